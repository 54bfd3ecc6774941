//! A server's tools: listed page by page under caps, kept until the server says that they changed (step 1).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use tokio::sync::{Mutex, OnceCell};
use tokio::time::Instant as Clock;

use crate::json::{Json, MAX_TREE_BYTES, Number};
use crate::model::{Era, Error, Kind, ListingId, Reason, Sent, ServerIdentity, Tool, ToolDefect};
use crate::upstream::{Connection, Upstream};

/// Bounds of one complete listing. Beyond any of them the listing is an error, never a partial list.
#[derive(Clone, Copy, Debug)]
pub struct ListingLimits {
    /// Pages.
    pub pages: usize,
    /// Entries, offered or not.
    pub tools: usize,
    /// Bytes of all pages.
    pub bytes: usize,
    /// For all pages together.
    pub timeout: Duration,
}

impl Default for ListingLimits {
    fn default() -> Self {
        Self { pages: 100, tools: 2_000, bytes: 16 << 20, timeout: Duration::from_secs(30) }
    }
}

/// How long a listing with an expiry lives at least: servers that say 0 are not asked before every call.
const MIN_LIFE: Duration = Duration::from_secs(5);
/// How often a listing is begun anew because the server says, while it is read, that it changed.
const MAX_RESTARTS: usize = 3;

/// The tools of one server.
pub(crate) struct Catalog {
    trust_annotations: bool,
    limits: ListingLimits,
    current: Mutex<Option<Arc<Listing>>>,
}

/// Tools by their names.
type Offered = IndexMap<String, Arc<Tool>>;
/// Entries by their places, with the reason.
type Dropped = Vec<(usize, ToolDefect)>;

/// One complete listing.
pub(crate) struct Listing {
    pub(crate) connection: Arc<dyn Connection>,
    pub(crate) id: ListingId,
    pub(crate) tools: Offered,
    /// Entries that are not offered, by their place, with the reason.
    pub(crate) dropped: Dropped,
    /// Set once its definitions were recorded as a baseline, or compared with one.
    pub(crate) compared: OnceCell<()>,
    expires: Option<Clock>,
}

impl Listing {
    fn is_current(&self, connection: &dyn Connection) -> bool {
        let id = ListingId { connection: connection.id(), generation: connection.generation() };
        self.id == id && self.expires.is_none_or(|expires| Clock::now() < expires)
    }
}

impl Catalog {
    pub(crate) fn new(trust_annotations: bool, limits: ListingLimits) -> Self {
        Self { trust_annotations, limits, current: Mutex::new(None) }
    }

    /// The live listing of the live connection, and whether it was read just now. Emptied by a notice of change, a reconnection
    /// or its expiry; a name that a live listing lacks is unknown and lists nothing again.
    pub(crate) async fn listing(&self, upstream: &dyn Upstream) -> Result<(Arc<Listing>, bool), Error> {
        let connection = upstream.connect().await?;
        let mut current = self.current.lock().await;
        if let Some(listing) = current.as_ref().filter(|listing| listing.is_current(&*connection)) {
            return Ok((listing.clone(), false));
        }
        *current = None;
        let listing = Arc::new(self.read(connection, &upstream.identity()).await?);
        *current = Some(listing.clone());
        Ok((listing, true))
    }

    /// Forgets the listing, so that the next use reads it anew.
    pub(crate) async fn forget(&self) {
        *self.current.lock().await = None;
    }

    async fn read(&self, connection: Arc<dyn Connection>, server: &Arc<ServerIdentity>) -> Result<Listing, Error> {
        let deadline = Instant::now() + self.limits.timeout;
        let mut restarts = 0;
        loop {
            let generation = connection.generation();
            let pages = self.pages(&*connection, server, deadline).await?;
            if connection.generation() == generation {
                let id = ListingId { connection: connection.id(), generation };
                let (tools, dropped) = self.tools(pages.definitions, server, id);
                return Ok(Listing { connection, id, tools, dropped, compared: OnceCell::new(), expires: pages.expires });
            }
            if restarts == MAX_RESTARTS {
                return Err(keeps_changing(server));
            }
            restarts += 1;
        }
    }

    async fn pages(&self, connection: &dyn Connection, server: &ServerIdentity, deadline: Instant) -> Result<Pages, Error> {
        let mut pages = Pages::default();
        let mut seen = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let asked = Clock::now();
            let page = connection.list_page(cursor.as_deref(), deadline).await?;
            pages.bytes += page.to_string().len();
            pages.memory += page.tree_bytes();
            pages.limit(life(&page, connection.era()), asked);
            pages.count += 1;
            let Json::Object(mut page) = page else { return Err(broken(server, "its tool list is no object")) };
            let Some(Json::Array(tools)) = page.swap_remove("tools") else {
                return Err(broken(server, "its tool list has no `tools` array"));
            };
            pages.definitions.extend(tools);
            self.within(server, &pages)?;
            let next = match page.swap_remove("nextCursor") {
                None | Some(Json::Null) => return Ok(pages),
                Some(Json::String(next)) => next,
                Some(_) => return Err(broken(server, "its tool list has a `nextCursor` that is no string")),
            };
            seen.extend(cursor.take());
            if seen.contains(&next) {
                return Err(upstream(Reason::RepeatedCursor, server, "repeats a cursor of its tool list"));
            }
            cursor = Some(next);
        }
    }

    fn within(&self, server: &ServerIdentity, read: &Pages) -> Result<(), Error> {
        let limits = &self.limits;
        if read.count > limits.pages || read.definitions.len() > limits.tools || read.bytes > limits.bytes {
            let what = format!("lists more than {} pages, {} tools or {} bytes", limits.pages, limits.tools, limits.bytes);
            return Err(upstream(Reason::ListingTooLarge, server, &what));
        }
        if read.memory > MAX_TREE_BYTES {
            let what = format!("lists tools that take more than {MAX_TREE_BYTES} bytes of memory");
            return Err(upstream(Reason::ListingTooLarge, server, &what));
        }
        Ok(())
    }

    /// Offers what can be offered. A malformed tool costs itself only; of twins neither is offered, since nobody can say which of
    /// them a call would reach.
    fn tools(&self, definitions: Vec<Json>, server: &Arc<ServerIdentity>, id: ListingId) -> (Offered, Dropped) {
        let (mut tools, mut dropped) = (IndexMap::new(), Vec::new());
        let folded = |name: &str| name.to_ascii_lowercase();
        let mut names: HashMap<String, usize> = HashMap::new();
        for name in definitions.iter().filter_map(|definition| definition.get("name")?.as_str()) {
            *names.entry(folded(name)).or_default() += 1;
        }
        for (index, definition) in definitions.into_iter().enumerate() {
            match Tool::new(server.clone(), definition, self.trust_annotations, id) {
                Ok(tool) if names.get(&folded(tool.name())) == Some(&1) => {
                    tools.insert(tool.name().to_owned(), Arc::new(tool));
                }
                Ok(_) => dropped.push((index, ToolDefect::Twin)),
                Err(defect) => dropped.push((index, defect)),
            }
        }
        (tools, dropped)
    }
}

#[derive(Default)]
struct Pages {
    count: usize,
    /// Bytes of their texts.
    bytes: usize,
    /// Bytes of their trees.
    memory: usize,
    definitions: Vec<Json>,
    expires: Option<Clock>,
}

impl Pages {
    /// Each page has its own clock; the listing lives as long as the shortest.
    fn limit(&mut self, life: Option<Duration>, asked: Clock) {
        if let Some(life) = life {
            let expires = asked + life.max(MIN_LIFE);
            self.expires = Some(self.expires.map_or(expires, |known| known.min(expires)));
        }
    }
}

/// A page's `ttlMs` (MCP 2026-07-28, server/utilities/caching): 0 where a modern server says nothing, and none in the legacy era,
/// which has no expiry.
fn life(page: &Json, era: Era) -> Option<Duration> {
    let millis = page.get("ttlMs").and_then(Json::as_number).map(Number::as_f64);
    let millis = millis.or((era == Era::Modern).then_some(0.0))?;
    Some(Duration::from_secs_f64((millis / 1_000.0).clamp(0.0, 86_400.0)))
}

fn broken(server: &ServerIdentity, what: &str) -> Error {
    Error::new(Kind::Upstream, Reason::Protocol, format!("server `{}` breaks the protocol: {what}", server.name)).with_sent(Sent::No)
}

/// A list that is another one each time it is read says nothing about what a call would reach.
pub(crate) fn keeps_changing(server: &ServerIdentity) -> Error {
    let what = "says over and over that its tool list changed, so no call can be decided on; try again, or report it to the server's maker";
    upstream(Reason::Protocol, server, what).with_sent(Sent::No)
}

fn upstream(reason: Reason, server: &ServerIdentity, what: &str) -> Error {
    Error::new(Kind::Upstream, reason, format!("server `{}` {what}", server.name))
}
