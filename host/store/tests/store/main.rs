//! The stores and the decision log, from outside.

#[cfg(test)]
mod decision_log;
#[cfg(test)]
mod file;
#[cfg(test)]
mod stores;
#[cfg(test)]
mod support;
