//! Grants as rows. A row that does not read back is an error, never a grant with a term less.

use std::collections::BTreeSet;

use callgate_core::json::Json;
use callgate_core::model::{Grant, GrantTerms, NewGrant};
use callgate_core::store::StoreError;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::clock::from_row;
use crate::sqlite::Place;

/// A set of texts as a JSON array.
pub(crate) fn set_text(set: &BTreeSet<String>) -> String {
    Json::Array(set.iter().map(|text| Json::from(text.as_str())).collect()).canonical()
}

/// The grant that a row of `SELECT *` holds.
pub(crate) fn grant(row: &SqliteRow, place: &Place) -> Result<Grant, StoreError> {
    read(row).map_err(|what| place.unreadable(&format!("grant whose `{what}`")))
}

fn read(row: &SqliteRow) -> Result<Grant, &'static str> {
    let text = |column: &'static str| row.try_get::<String, _>(column).map_err(|_| column);
    let whole = |column: &'static str| row.try_get::<i64, _>(column).map_err(|_| column);
    let uses: Option<i64> = row.try_get("uses_left").map_err(|_| "uses_left")?;
    let terms = Json::parse(&text("terms")?).map_err(|_| "terms")?;
    Ok(Grant {
        id: text("id")?,
        created_ms: from_row(whole("created_ms")?),
        uses_left: uses.map(u32::try_from).transpose().map_err(|_| "uses_left")?,
        given: NewGrant {
            principal: row.try_get("principal").map_err(|_| "principal")?,
            server: text("server")?,
            server_digest: text("server_digest")?.parse().map_err(|_| "server_digest")?,
            tool: text("tool")?,
            fingerprint: text("fingerprint")?.parse().map_err(|_| "fingerprint")?,
            causes: set(&text("causes")?).ok_or("causes")?,
            taint: set(&text("taint")?).ok_or("taint")?,
            expires_ms: from_row(whole("expires_ms")?),
            terms: GrantTerms::from_json(&terms).map_err(|_| "terms")?,
        },
    })
}

fn set(text: &str) -> Option<BTreeSet<String>> {
    Json::parse(text).ok()?.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}
