//! A bounded wait for a free sandbox. Below the pool's size, so that the pool itself never runs out.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many may run at once.
#[derive(Debug)]
pub(crate) struct Queue {
    free: Mutex<usize>,
    freed: Condvar,
}

/// The right to one sandbox; given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit<'a>(&'a Queue);

impl Queue {
    pub(crate) fn new(permits: usize) -> Self {
        Self { free: Mutex::new(permits), freed: Condvar::new() }
    }

    /// Waits for a permit; none when the time is over.
    pub(crate) fn acquire(&self, patience: Duration) -> Option<Permit<'_>> {
        let until = Instant::now() + patience;
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            let left = until.checked_duration_since(Instant::now())?;
            free = self.freed.wait_timeout(free, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= 1;
        Some(Permit(self))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_bounded_and_permits_come_back() {
        let queue = Queue::new(1);
        let permit = queue.acquire(Duration::ZERO).unwrap();
        assert!(queue.acquire(Duration::from_millis(5)).is_none());
        drop(permit);
        assert!(queue.acquire(Duration::ZERO).is_some());
    }
}
