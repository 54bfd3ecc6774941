//! Folders that go away, and the words that the tests speak.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use callgate_core::digest::{Digest, Fingerprint};
use callgate_core::json::Json;
use callgate_core::model::{Arguments, Era, GrantTerms, NewGrant, Principal, ServerIdentity};
use callgate_core::store::{AskedAbout, Baseline, BaselineKey, Grantee, PinnedTool};
use callgate_core::upstream::InputKinds;

/// A folder of one test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("callgate-store-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _left = std::fs::remove_dir_all(&self.0);
    }
}

/// An ask, with everything that a grant is compared to.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) principal: Option<Principal>,
    pub(crate) server: ServerIdentity,
    pub(crate) tool: &'static str,
    pub(crate) definition: &'static str,
    pub(crate) causes: BTreeSet<String>,
    pub(crate) taint: BTreeSet<String>,
    pub(crate) arguments: Arguments,
    pub(crate) now_ms: u64,
}

impl Asked {
    pub(crate) fn new() -> Self {
        Self {
            principal: Some(Principal::new("cli", "ann")),
            server: server("files", "a"),
            tool: "write",
            definition: "v1",
            causes: texts(&["rule:writes"]),
            taint: texts(&[]),
            arguments: Arguments::parse(r#"{"path":"/a"}"#).unwrap(),
            now_ms: 1000,
        }
    }

    pub(crate) fn about(&self) -> AskedAbout<'_> {
        AskedAbout { grantee: self.grantee(), fingerprint: fingerprint(self.definition), causes: &self.causes, arguments: &self.arguments }
    }

    pub(crate) fn grantee(&self) -> Grantee<'_> {
        Grantee { principal: self.principal.as_ref(), server: &self.server, tool: self.tool, taint: &self.taint, now_ms: self.now_ms }
    }

    /// The grant that just settles this, until 10 s.
    pub(crate) fn grant(&self) -> NewGrant {
        NewGrant {
            principal: self.principal.as_ref().map(ToString::to_string),
            server: self.server.name.as_str().to_owned(),
            server_digest: self.server.digest,
            tool: self.tool.to_owned(),
            fingerprint: fingerprint(self.definition),
            causes: self.causes.clone(),
            taint: self.taint.clone(),
            expires_ms: 10_000,
            terms: GrantTerms::default(),
        }
    }
}

pub(crate) fn server(name: &str, command: &str) -> ServerIdentity {
    ServerIdentity { name: name.parse().unwrap(), digest: Digest::of(command) }
}

pub(crate) fn fingerprint(of: &str) -> Fingerprint {
    Fingerprint(Digest::of(of))
}

pub(crate) fn texts(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(ToString::to_string).collect()
}

pub(crate) fn key() -> BaselineKey {
    BaselineKey {
        server: "files".to_owned(),
        server_digest: Digest::of("a"),
        era: Era::Legacy,
        declared: InputKinds { form: true, roots: true, ..InputKinds::default() },
    }
}

pub(crate) fn pinned(definition: &str) -> PinnedTool {
    PinnedTool {
        fingerprint: fingerprint(definition),
        shape: Digest::of(format!("shape of {definition}")),
        definition: Json::parse(definition).unwrap(),
    }
}

pub(crate) fn baseline(tools: &[(&str, &str)]) -> Baseline {
    Baseline { tools: tools.iter().map(|(name, definition)| ((*name).to_owned(), pinned(definition))).collect() }
}

pub(crate) fn key_with(edit: impl FnOnce(&mut BaselineKey)) -> BaselineKey {
    let mut key = key();
    edit(&mut key);
    key
}
