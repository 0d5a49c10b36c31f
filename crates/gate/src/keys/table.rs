//! The keys that decisions look up: a table that grows in place, with what each key has used of its limits.
//!
//! One thread at a time writes ([`Keys::put`] takes a lock for that); readers take no lock. An entry never moves and is
//! never used for another key, so its slot stays valid. The index from digests to slots is an
//! open table of words with linear probing, at most half full. A larger one is filled before it becomes the newest, so
//! readers find every key in any index that they use; the smaller ones stay allocated and together double the memory.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::Digest;
use super::owners::{Owner, Owners};
use crate::limits::{AtOnce, Gcra, Quota, Rate};

/// Entries that are allocated together.
const CHUNK: usize = 4096;
/// Chunks at most: 67 million keys.
const CHUNKS: usize = 16_384;
/// Places of the first index: a power of two.
const FIRST_INDEX: usize = 1024;
/// Indexes at most, each twice as large as the one before.
const INDEXES: usize = 18;

const LIVE: u32 = 1;
const REVOKED: u32 = 2;

/// The settings of a key. `None`: as its tier.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Settings {
    /// The number that people and usage know it by.
    pub id: u64,
    /// The tier's number.
    pub tier: u32,
    /// Number of its set of routes, 0 for all.
    pub routes: u32,
    /// When it expires, in seconds since the epoch; 0: never.
    pub expires_s: i64,
    /// Requests per second.
    pub rate: Option<Rate>,
    /// Requests at once.
    pub at_once: Option<u32>,
    /// Requests a day.
    pub day_quota: Option<u64>,
    /// Requests a month.
    pub month_quota: Option<u64>,
    /// Bytes of the longest body.
    pub body_max_bytes: Option<u64>,
}

/// A key, and what it has used.
#[derive(Debug, Default)]
pub struct Entry {
    digest: [AtomicU64; 4],
    id: AtomicU64,
    expires_s: AtomicU64,
    rate_per_s: AtomicU64,
    burst: AtomicU64,
    day_most: AtomicU64,
    month_most: AtomicU64,
    body_most: AtomicU64,
    /// The place of its owner; 0 while no owner is known.
    owner: AtomicU64,
    tier: AtomicU32,
    routes: AtomicU32,
    at_once_most: AtomicU32,
    /// The slot plus one of the key in whose limits it counts; 0 for its own.
    counted_in: AtomicU32,
    /// Requests let through that were not reported to other gateways yet.
    pub(crate) unreported: AtomicU32,
    state: AtomicU32,
    /// How much of the rate is used.
    pub used: Gcra,
    /// How much of its share of the ceiling is used.
    pub shared: Gcra,
    /// Requests in flight.
    pub in_flight: AtOnce,
    /// Requests of the day.
    pub day: Quota,
    /// Requests of the month.
    pub month: Quota,
}

/// `None` in an entry.
const ABSENT: u64 = u64::MAX;

impl Entry {
    fn is(&self, words: &[u64; 4]) -> bool {
        // All words are compared, so the time does not show how many are equal.
        let differences =
            self.digest.iter().zip(words).map(|(own, word)| own.load(Ordering::Relaxed) ^ word);
        differences.fold(0, |all, one| all | one) == 0
    }

    fn set(&self, settings: &Settings) {
        let Settings {
            id,
            tier,
            routes,
            expires_s,
            rate,
            at_once,
            day_quota,
            month_quota,
            body_max_bytes,
        } = *settings;
        self.id.store(id, Ordering::Relaxed);
        self.tier.store(tier, Ordering::Relaxed);
        self.routes.store(routes, Ordering::Relaxed);
        // What ended before 1970 has ended, and 0 is no end.
        let expires_s = if expires_s < 0 { 1 } else { expires_s as u64 };
        self.expires_s.store(expires_s, Ordering::Relaxed);
        let bits = |number: Option<f64>| number.map_or(ABSENT, f64::to_bits);
        self.rate_per_s.store(bits(rate.map(|rate| rate.per_s)), Ordering::Relaxed);
        self.burst.store(bits(rate.map(|rate| rate.burst)), Ordering::Relaxed);
        self.at_once_most.store(at_once.unwrap_or(u32::MAX), Ordering::Relaxed);
        self.day_most.store(day_quota.unwrap_or(ABSENT), Ordering::Relaxed);
        self.month_most.store(month_quota.unwrap_or(ABSENT), Ordering::Relaxed);
        self.body_most.store(body_max_bytes.unwrap_or(ABSENT), Ordering::Relaxed);
    }

    /// Whether requests may be made with it at this time.
    pub fn is_valid(&self, unix_s: i64) -> bool {
        let expires_s = self.expires_s.load(Ordering::Relaxed);
        self.state.load(Ordering::Acquire) == LIVE
            && (expires_s == 0 || (unix_s.max(0) as u64) < expires_s)
    }

    /// Seconds until it expires, unless it is revoked; `None` if it never does.
    pub(crate) fn left_s(&self, unix_s: i64) -> Option<u64> {
        let expires_s = self.expires_s.load(Ordering::Relaxed);
        (expires_s != 0).then(|| expires_s.saturating_sub(unix_s.max(0) as u64))
    }

    /// Whether it was revoked.
    pub fn is_revoked(&self) -> bool {
        self.state.load(Ordering::Acquire) == REVOKED
    }

    /// The number that people know it by.
    pub fn id(&self) -> u64 {
        self.id.load(Ordering::Relaxed)
    }

    /// Its name among gateways that share limits: half of its digest.
    pub(crate) fn name(&self) -> String {
        let word = |at: usize| self.digest[at].load(Ordering::Relaxed);
        format!("{:016x}{:016x}", word(0), word(1))
    }

    /// Its tier's number.
    pub fn tier(&self) -> u32 {
        self.tier.load(Ordering::Relaxed)
    }

    /// Its set of routes.
    pub fn routes(&self) -> u32 {
        self.routes.load(Ordering::Relaxed)
    }

    /// Its own rate.
    pub fn rate(&self) -> Option<Rate> {
        let bits = self.rate_per_s.load(Ordering::Relaxed);
        let burst = self.burst.load(Ordering::Relaxed);
        (bits != ABSENT && burst != ABSENT)
            .then(|| Rate { per_s: f64::from_bits(bits), burst: f64::from_bits(burst) })
    }

    /// The slot of the key in whose limits it counts, where that is another.
    pub fn counted_in(&self) -> Option<u32> {
        self.counted_in.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Makes its requests count in the limits of the key in this slot. To be called before it is valid: what is taken from one
    /// key's limits must not be given back to another's.
    pub fn count_in(&self, slot: u32) {
        self.counted_in.store(slot + 1, Ordering::Relaxed);
    }

    /// Its own number of requests at once.
    pub fn at_once_most(&self) -> Option<u32> {
        Some(self.at_once_most.load(Ordering::Relaxed)).filter(|&most| most != u32::MAX)
    }

    /// Its own quota of the day.
    pub fn day_most(&self) -> Option<u64> {
        Some(self.day_most.load(Ordering::Relaxed)).filter(|&most| most != ABSENT)
    }

    /// Its own quota of the month.
    pub fn month_most(&self) -> Option<u64> {
        Some(self.month_most.load(Ordering::Relaxed)).filter(|&most| most != ABSENT)
    }

    /// Its own longest body, in bytes.
    pub fn body_most(&self) -> Option<u64> {
        Some(self.body_most.load(Ordering::Relaxed)).filter(|&most| most != ABSENT)
    }
}

/// The index: each place holds half of a digest's first word and a slot plus one, or 0.
type Index = Box<[AtomicU64]>;

/// All keys.
#[derive(Debug)]
pub struct Keys {
    chunks: Box<[OnceLock<Box<[Entry]>>]>,
    /// Indexes, each larger than the one before; the newest holds every key.
    indexes: [OnceLock<Index>; INDEXES],
    newest: AtomicU32,
    count: AtomicU32,
    ends: AtomicU32,
    owners: Owners,
    writer: Mutex<()>,
}

impl Default for Keys {
    fn default() -> Self {
        Self::with_room(0)
    }
}

impl Keys {
    /// An empty table, with an index for this many keys.
    pub fn with_room(keys: usize) -> Self {
        let places = (keys.saturating_mul(2)).next_power_of_two().max(FIRST_INDEX);
        let indexes = [const { OnceLock::new() }; INDEXES];
        let _ = indexes[0].set(empty_index(places));
        Self {
            chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect(),
            indexes,
            newest: AtomicU32::new(0),
            count: AtomicU32::new(0),
            ends: AtomicU32::new(0),
            owners: Owners::new(),
            writer: Mutex::new(()),
        }
    }

    /// Keys, revoked ones included.
    pub fn len(&self) -> usize {
        self.count.load(Ordering::Acquire) as usize
    }

    /// Whether the table never had a key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slot of a key.
    pub fn find(&self, digest: &Digest) -> Option<u32> {
        let words = digest.words();
        let newest = self.newest.load(Ordering::Acquire) as usize;
        let index = self.indexes[newest].get()?;
        self.probe(index, &words).ok()
    }

    /// The entry in a slot that [`Self::find`] or [`Self::put`] gave.
    ///
    /// # Panics
    /// If neither gave this slot.
    pub fn entry(&self, slot: u32) -> &Entry {
        let slot = slot as usize;
        &self.chunks[slot / CHUNK].get().expect("a slot that was given")[slot % CHUNK]
    }

    /// The entry that counts for a key: of keys that replace each other, the first's. Rate, requests at once, share and quotas are
    /// used there.
    pub fn counting<'a>(&'a self, entry: &'a Entry) -> &'a Entry {
        entry.counted_in().map_or(entry, |slot| self.entry(slot))
    }

    /// The slot of the key that counts for the one in this slot, as [`Self::counting`].
    pub fn counting_slot(&self, slot: u32) -> u32 {
        self.entry(slot).counted_in().unwrap_or(slot)
    }

    /// The owner of a key.
    pub fn owner(&self, entry: &Entry) -> Owner<'_> {
        self.owners.at(entry.owner.load(Ordering::Acquire))
    }

    /// Adds a key without an owner, or changes the settings of an existing one and puts it in force; what it has used stays.
    /// Returns its slot; `None` if the table is full, at 67 million keys.
    pub fn put(&self, digest: &Digest, settings: &Settings) -> Option<u32> {
        self.put_of("", digest, settings)
    }

    /// As [`Self::put`], of a key of this owner. A key never changes its owner.
    pub fn put_of(&self, owner: &str, digest: &Digest, settings: &Settings) -> Option<u32> {
        self.put_as(LIVE, owner, digest, settings)
    }

    /// As [`Self::put`], of a key that is not in force, in whose limits others may count.
    pub fn put_revoked(&self, digest: &Digest, settings: &Settings) -> Option<u32> {
        self.put_as(REVOKED, "", digest, settings)
    }

    fn put_as(&self, state: u32, owner: &str, digest: &Digest, settings: &Settings) -> Option<u32> {
        let _writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let words = digest.words();
        let newest = self.newest.load(Ordering::Acquire) as usize;
        if let Ok(slot) = self.probe(self.indexes[newest].get()?, &words) {
            let entry = self.entry(slot);
            let before = entry.expires_s.load(Ordering::Relaxed);
            entry.set(settings);
            self.name_owner(entry, owner);
            entry.state.store(state, Ordering::Release);
            if entry.expires_s.load(Ordering::Relaxed) != before {
                self.ends.fetch_add(1, Ordering::Release);
            }
            return Some(slot);
        }
        let slot = self.count.load(Ordering::Acquire);
        let chunk = self.chunks.get(slot as usize / CHUNK)?;
        chunk.get_or_init(|| (0..CHUNK).map(|_| Entry::default()).collect());
        let entry = self.entry(slot);
        entry.digest.iter().zip(words).for_each(|(own, word)| own.store(word, Ordering::Relaxed));
        entry.set(settings);
        self.name_owner(entry, owner);
        entry.state.store(state, Ordering::Release);
        let index = self.index_with_room(slot as usize + 1)?;
        let place = self.probe(index, &words).err()??;
        index[place].store(word_of(&words, slot), Ordering::Release);
        self.count.store(slot + 1, Ordering::Release);
        Some(slot)
    }

    /// Stores the owner of a key that has none. To be called by the thread that writes.
    fn name_owner(&self, entry: &Entry, owner: &str) {
        if entry.owner.load(Ordering::Relaxed) == 0 {
            entry.owner.store(self.owners.add(owner), Ordering::Release);
        }
    }

    /// Revokes a key at once. Returns whether it existed.
    pub fn revoke(&self, digest: &Digest) -> bool {
        let found = self.find(digest);
        if let Some(slot) = found {
            self.entry(slot).state.store(REVOKED, Ordering::Release);
            self.ends.fetch_add(1, Ordering::Release);
        }
        found.is_some()
    }

    /// A number that changes when a key that is there is revoked, or is to expire at another time.
    pub fn ends(&self) -> u32 {
        self.ends.load(Ordering::Acquire)
    }

    /// Bytes it takes: entries that are allocated, indexes and owners.
    pub fn bytes(&self) -> usize {
        let chunks = self.chunks.iter().filter(|chunk| chunk.get().is_some()).count();
        let indexes: usize =
            self.indexes.iter().filter_map(OnceLock::get).map(|index| index.len()).sum();
        chunks * CHUNK * size_of::<Entry>()
            + indexes * size_of::<AtomicU64>()
            + CHUNKS * size_of::<OnceLock<Box<[Entry]>>>()
            + self.owners.bytes()
    }

    /// An index that is at most half full with this many keys: the newest, or a new one with all keys.
    fn index_with_room(&self, keys: usize) -> Option<&Index> {
        let newest = self.newest.load(Ordering::Acquire) as usize;
        let index = self.indexes[newest].get()?;
        if keys * 2 <= index.len() {
            return Some(index);
        }
        let larger = empty_index(index.len() * 2);
        for slot in 0..self.count.load(Ordering::Acquire) {
            let mut words = [0; 4];
            let own = &self.entry(slot).digest;
            words.iter_mut().zip(own).for_each(|(word, own)| *word = own.load(Ordering::Relaxed));
            if let Err(Some(place)) = self.probe(&larger, &words) {
                larger[place].store(word_of(&words, slot), Ordering::Release);
            }
        }
        self.indexes.get(newest + 1)?.set(larger).ok()?;
        self.newest.store(newest as u32 + 1, Ordering::Release);
        self.indexes[newest + 1].get()
    }

    /// The slot of a digest, or else the first free place for it (`None` in a full index).
    fn probe(&self, index: &[AtomicU64], words: &[u64; 4]) -> Result<u32, Option<usize>> {
        let mask = index.len() - 1;
        let first = words[0] as usize & mask;
        for step in 0..index.len() {
            let place = (first + step) & mask;
            let word = index[place].load(Ordering::Acquire);
            if word == 0 {
                return Err(Some(place));
            }
            let slot = (word as u32).wrapping_sub(1);
            if word >> 32 == words[0] >> 32 && self.entry(slot).is(words) {
                return Ok(slot);
            }
        }
        Err(None)
    }
}

fn empty_index(places: usize) -> Index {
    (0..places).map(|_| AtomicU64::new(0)).collect()
}

fn word_of(words: &[u64; 4], slot: u32) -> u64 {
    words[0] >> 32 << 32 | u64::from(slot + 1)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::Digester;
    use super::*;

    fn digest(n: u64) -> Digest {
        Digester::new(b"secret").digest(&n.to_be_bytes())
    }

    #[test]
    fn keys_are_found_through_every_growth() {
        let keys = Keys::default();
        for n in 0..10_000 {
            let settings = Settings { id: n, ..Settings::default() };
            assert_eq!(keys.put(&digest(n), &settings), Some(n as u32));
        }
        for n in 0..10_000 {
            assert_eq!(keys.find(&digest(n)).map(|slot| keys.entry(slot).id()), Some(n));
        }
        assert_eq!(keys.find(&digest(10_000)), None);
        assert_eq!(keys.len(), 10_000);
    }

    #[test]
    fn a_revoked_key_is_valid_no_more_and_an_expired_one_neither() {
        let keys = Keys::default();
        let settings = Settings { id: 7, expires_s: 100, ..Settings::default() };
        let slot = keys.put(&digest(7), &settings).unwrap();
        assert!(keys.entry(slot).is_valid(99));
        assert!(!keys.entry(slot).is_valid(100));
        assert!(keys.revoke(&digest(7)));
        assert!(!keys.entry(slot).is_valid(99));
        assert!(!keys.revoke(&digest(8)));
        // Changed, it lives again in the same slot.
        assert_eq!(keys.put(&digest(7), &Settings { expires_s: 0, ..settings }), Some(slot));
        assert!(keys.entry(slot).is_valid(1_000_000));
    }

    #[test]
    fn keys_count_in_the_limits_of_one() {
        let keys = Keys::default();
        let first = keys.put_revoked(&digest(1), &Settings::default()).unwrap();
        let second = keys.put(&digest(2), &Settings::default()).unwrap();
        assert!(!keys.entry(first).is_valid(0) && keys.entry(second).is_valid(0));
        let counted = |slot| keys.counting(keys.entry(slot)).day.used(7);
        keys.entry(second).count_in(first);
        keys.counting(keys.entry(second)).day.add(7, 3);
        assert_eq!([first, second].map(counted), [3, 3]);
        assert_eq!(keys.entry(second).day.used(7), 0);
        // Changed settings change nothing of that.
        keys.put(&digest(2), &Settings { expires_s: 9, ..Settings::default() });
        assert_eq!(keys.entry(second).counted_in(), Some(first));
    }

    #[test]
    fn settings_come_back_as_they_were_put() {
        let keys = Keys::default();
        let rate = Rate { per_s: 12.5, burst: 3.0 };
        let settings = Settings {
            rate: Some(rate),
            at_once: Some(4),
            day_quota: Some(0),
            month_quota: Some(u64::MAX - 1),
            body_max_bytes: Some(0),
            ..Settings::default()
        };
        let entry = keys.entry(keys.put(&digest(1), &settings).unwrap());
        assert_eq!((entry.rate(), entry.at_once_most()), (Some(rate), Some(4)));
        assert_eq!((entry.day_most(), entry.month_most()), (Some(0), Some(u64::MAX - 1)));
        assert_eq!(entry.body_most(), Some(0));
        let none = keys.entry(keys.put(&digest(2), &Settings::default()).unwrap());
        assert_eq!((none.rate(), none.at_once_most(), none.day_most()), (None, None, None));
        assert_eq!(none.body_most(), None);
    }

    #[test]
    fn an_owner_is_kept_with_the_key() {
        let keys = Keys::default();
        let owner =
            |slot: u32| String::from_utf8(keys.owner(keys.entry(slot)).bytes().collect()).unwrap();
        let ada = keys.put_of("ada", &digest(1), &Settings::default()).unwrap();
        let nobody = keys.put(&digest(2), &Settings::default()).unwrap();
        assert_eq!((owner(ada), owner(nobody)), ("ada".to_owned(), String::new()));
        let bytes = keys.bytes();
        // Its settings are read again, as after a change.
        keys.put_of("ada", &digest(1), &Settings { expires_s: 9, ..Settings::default() });
        assert_eq!((owner(ada), keys.bytes()), ("ada".to_owned(), bytes));
    }

    #[test]
    fn a_key_takes_at_most_200_bytes() {
        const KEYS: usize = 100_000;
        let keys = Keys::with_room(KEYS);
        for n in 0..KEYS as u64 {
            keys.put(&digest(n), &Settings::default());
        }
        let each = keys.bytes() as f64 / KEYS as f64;
        assert!(each <= 200.0, "{each}");
    }

    #[test]
    fn readers_find_what_was_there_while_others_are_added() {
        let keys = Keys::default();
        for n in 0..500 {
            keys.put(&digest(n), &Settings { id: n, ..Settings::default() });
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                for n in 500..20_000 {
                    keys.put(&digest(n), &Settings { id: n, ..Settings::default() });
                }
            });
            for _ in 0..40 {
                for n in 0..500 {
                    let slot = keys.find(&digest(n)).expect("a key that was there");
                    assert_eq!(keys.entry(slot).id(), n);
                }
            }
        });
    }
}
