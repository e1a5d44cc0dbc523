//! [`Order`]: seeing while paths arrive that they are sorted, and that none lies below another one.

/// What a stream in good order need not remember of its paths.
#[derive(Default)]
pub(super) struct Order {
    last: Vec<u8>,
    /// Lengths of the paths seen that `last` begins with, `last` itself included: between a path and one below it only such
    /// come that begin with it.
    stems: Vec<usize>,
}

impl Order {
    /// Takes the next path. `None` where it does not come behind all others, or lies below one of them.
    pub(super) fn take(&mut self, path: &[u8]) -> Option<()> {
        let common = common_prefix(&self.last, path);
        let is_behind = match (self.last.get(common), path.get(common)) {
            (None, Some(_)) => true,
            (Some(old), Some(new)) => old < new,
            (_, None) => false,
        };
        is_behind.then_some(())?;
        while self.stems.last().is_some_and(|stem| *stem > common) {
            self.stems.pop();
        }
        if self.stems.iter().any(|stem| path.get(*stem) == Some(&b'/')) {
            return None;
        }
        self.stems.push(path.len());
        self.last.truncate(common);
        self.last.extend_from_slice(path.get(common..)?);
        Some(())
    }
}

/// How many bytes two texts begin with in common; eight at a time, because paths of one directory have many.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut common = 0;
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return common + differ.trailing_zeros() as usize / 8;
        }
        common += 8;
    }
    let rest = |text| <[u8]>::get(text, common..).unwrap_or_default();
    common + rest(a).iter().zip(rest(b)).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_good(paths: &[&str]) -> bool {
        let mut order = Order::default();
        paths.iter().all(|path| order.take(path.as_bytes()).is_some())
    }

    #[test]
    fn order_and_contradictions_are_seen_as_they_arrive() {
        for good in [
            &["a"][..],
            &["a", "a-", "a.b", "a0", "b"],
            &["a-", "a/b", "a/b-", "a/c/d", "a0"],
            &["long/enough/for/chunks/a", "long/enough/for/chunks/ab", "long/enough/for/chunkt"],
        ] {
            assert!(are_good(good), "{good:?}");
        }
        for bad in [
            &[""][..],
            &["a", "a"],
            &["b", "a"],
            &["ab", "a"],
            &["a", "a/b"],
            &["a", "a-", "a.b", "a/b"],
            &["a/b", "a/b-", "a/b.c/d", "a/b/c"],
            &["long/enough/for/chunks", "long/enough/for/chunks-", "long/enough/for/chunks/a"],
            &["long/enough/for/chunks/b", "long/enough/for/chunks/a"],
        ] {
            assert!(!are_good(bad), "{bad:?}");
        }
    }
}
