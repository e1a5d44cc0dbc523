//! The variables that a run remembers of the environment it was launched in, with secrets taken out (facts 1.8, 10.35).

use crate::run::json::Json;

/// What stands where a secret stood.
const REDACTED: &str = "[redacted]";
/// Names that say that the value is a secret.
const SECRET_WORDS: [&str; 6] = ["TOKEN", "KEY", "SECRET", "PASSWORD", "CREDENTIAL", "AUTH"];
/// Beginnings of the secrets of well-known services.
const SECRET_PREFIXES: [&str; 20] = [
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxs-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
];
/// A word that begins like a secret is one only if this much follows.
const SECRET_REST_BYTES_MIN: usize = 12;

/// The member `launch_env`, by name; `None` where nothing is to be remembered.
#[must_use]
pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Option<Json> {
    let mut kept: Vec<(String, String)> = variables
        .into_iter()
        .filter(|(name, value)| (name.starts_with("ITERION_") || name.starts_with("RESCUE_")) && !value.is_empty())
        .collect();
    kept.sort();
    let redact = |(name, value): (String, String)| {
        let is_secret = is_secret_name(&name) || is_secret_value(&value);
        (name, Json::string(if is_secret { REDACTED } else { &value }))
    };
    (!kept.is_empty()).then(|| Json::object(kept.into_iter().map(redact)))
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// Whether a value looks like a secret, whatever its name: a private key, a token of a well-known form, a signed token, or an
/// address with a password in it.
fn is_secret_value(value: &str) -> bool {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '=' | '"' | '\'' | '&' | '?');
    value.contains("-----BEGIN ")
        || has_password(value)
        || value.split(is_separator).any(|word| is_token(word) || is_signed_token(word))
        || value.split_once(' ').is_some_and(|(scheme, rest)| {
            (scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("basic"))
                && rest.trim().len() >= SECRET_REST_BYTES_MIN
        })
}

fn is_token(word: &str) -> bool {
    SECRET_PREFIXES.iter().filter_map(|prefix| word.strip_prefix(prefix)).any(|rest| {
        rest.len() >= SECRET_REST_BYTES_MIN
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    })
}

/// `header.claims.signature`, each in base64 of a URL, the first a JSON object.
fn is_signed_token(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    word.starts_with("eyJ")
        && parts.len() == 3
        && parts.iter().all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        })
}

/// `scheme://user:password@host`, anywhere in the value.
fn has_password(value: &str) -> bool {
    value.match_indices("://").any(|(at, mark)| {
        let rest = value.get(at + mark.len()..).unwrap_or_default();
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        authority
            .rsplit_once('@')
            .is_some_and(|(user, _)| user.split_once(':').is_some_and(|(_, password)| !password.is_empty()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Option<String> {
        of(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))).map(|json| json.compact())
    }

    #[test]
    fn keeps_ours_and_hides_secrets_by_name() {
        assert_eq!(env(&[("PATH", "/bin"), ("ITERION_EMPTY", ""), ("XITERION_A", "1"), ("iterion_a", "1")]), None);
        assert_eq!(
            env(&[
                ("RESCUE_MODE", "on"),
                ("ITERION_Auth_X", "a"),
                ("ITERION_HOME", "/h"),
                ("ITERION_API_KEY", "k")
            ])
            .as_deref(),
            Some(
                r#"{"ITERION_API_KEY":"[redacted]","ITERION_Auth_X":"[redacted]","ITERION_HOME":"/h","RESCUE_MODE":"on"}"#
            )
        );
    }

    #[test]
    fn hides_secrets_by_what_they_look_like() {
        for secret in [
            "sk-ant-REDACTED",
            "ghp_0123456789abcdef0123",
            "https://bot:hunter2@example.org/x",
            "a,postgres://u:p@h/db",
            "Bearer abcdefghijklmnop",
            "eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl",
            "x=AKIAIOSFODNN7EXAMPLE",
            "-----BEGIN PRIVATE KEY-----",
        ] {
            assert_eq!(env(&[("ITERION_X", secret)]).as_deref(), Some(r#"{"ITERION_X":"[redacted]"}"#), "{secret}");
        }
        for plain in [
            "https://example.org/a@b:c",
            "git@example.org:x/y",
            "sk-8",
            "skip",
            "a.b.c",
            "https://user@h/",
            "bearer",
        ] {
            assert!(env(&[("ITERION_X", plain)]).is_some_and(|json| !json.contains("redacted")), "{plain}");
        }
    }
}
