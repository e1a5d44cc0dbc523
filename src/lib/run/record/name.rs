//! Names for runs that people can say: three words and four digits, always the same for the same run (facts 1.10).

use sha2::{Digest, Sha256};

/// The name of the run with this id that executes the workflow in this file.
#[must_use]
pub fn friendly(file_path: &str, id: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(format!("{file_path}:{id}")).into();
    let number = |nth: usize| {
        let pair = digest.chunks_exact(2).nth(nth).and_then(|pair| pair.try_into().ok());
        u16::from_be_bytes(pair.unwrap_or_default())
    };
    let word = |pool: &[&'static str; POOL_WORDS], nth| {
        pool.get(usize::from(number(nth)) % POOL_WORDS).copied().unwrap_or_default()
    };
    format!("{}-{}-{}-{:04x}", word(&MOODS, 0), word(&PLANTS, 1), word(&ANIMALS, 2), number(3))
}

/// Words in each pool. Names that were given stay the same only as long as the pools do.
const POOL_WORDS: usize = 80;

#[rustfmt::skip]
const MOODS: [&str; POOL_WORDS] = [
    "able", "airy", "amber", "apt", "bold", "brave", "breezy", "bright", "brisk", "calm", "candid", "careful",
    "cheery", "civil", "clear", "clever", "cosy", "crisp", "curious", "daring", "deft", "early", "eager",
    "earnest", "even", "fair", "fleet", "fond", "frank", "free", "fresh", "gentle", "glad", "golden", "good",
    "grand", "hardy", "honest", "humble", "jolly", "keen", "kind", "lively", "loyal", "lucid", "mellow", "merry",
    "mild", "neat", "nimble", "noble", "open", "patient", "plucky", "polite", "prompt", "proud", "quick", "quiet",
    "rapid", "ready", "rosy", "sage", "serene", "sharp", "silver", "smart", "smooth", "snug", "sober", "solid",
    "spry", "steady", "stout", "sunny", "swift", "tidy", "true", "warm", "wise",
];

#[rustfmt::skip]
const PLANTS: [&str; POOL_WORDS] = [
    "alder", "amaranth", "apple", "ash", "aspen", "bamboo", "basil", "bay", "beech", "birch", "bramble", "briar",
    "cedar", "cherry", "chestnut", "clover", "cork", "cypress", "daisy", "dill", "elder", "elm", "fennel", "fern",
    "fig", "fir", "flax", "foxglove", "garlic", "gorse", "hazel", "heather", "hemlock", "hickory", "holly", "hop",
    "iris", "ivy", "jasmine", "juniper", "larch", "laurel", "lavender", "lemon", "lilac", "lily", "linden",
    "lotus", "maple", "marigold", "mint", "moss", "myrtle", "nettle", "oak", "olive", "orchid", "palm", "parsley",
    "peach", "pear", "pepper", "pine", "plum", "poplar", "poppy", "quince", "reed", "rose", "rowan", "rye",
    "sage", "sedge", "sorrel", "spruce", "thistle", "thyme", "tulip", "violet", "walnut",
];

#[rustfmt::skip]
const ANIMALS: [&str; POOL_WORDS] = [
    "adder", "albatross", "ant", "badger", "bat", "bear", "beaver", "bee", "beetle", "bison", "boar", "bream",
    "carp", "cat", "cicada", "cod", "condor", "crab", "crane", "cricket", "crow", "deer", "dolphin", "dove",
    "duck", "eagle", "eel", "egret", "elk", "falcon", "ferret", "finch", "fox", "frog", "gecko", "goat", "goose",
    "grouse", "gull", "hare", "hawk", "heron", "hornet", "ibex", "jackal", "jay", "kestrel", "kite", "koala",
    "lark", "lemur", "lynx", "magpie", "marten", "mole", "moose", "moth", "mouse", "newt", "ocelot", "orca",
    "otter", "owl", "perch", "pike", "plover", "puffin", "quail", "rabbit", "raven", "robin", "salmon", "seal",
    "shrew", "sparrow", "squid", "stoat", "stork", "swan", "swift",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_depends_on_file_and_id_only() {
        assert_eq!(friendly("/repo/a.bot", "r1"), "mild-marigold-hornet-a874");
        assert_ne!(friendly("/repo/b.bot", "r1"), friendly("/repo/a.bot", "r1"));
        for pool in [&MOODS, &PLANTS, &ANIMALS] {
            assert_eq!(pool.iter().collect::<std::collections::BTreeSet<_>>().len(), POOL_WORDS);
        }
    }
}
