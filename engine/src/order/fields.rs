//! Strict reading of a JSON object: every key is known, every value is possible, every complaint names its key.
//!
//! Why not `#[derive(Deserialize)]`: its messages give line and column of a text that a program wrote, not the path of the
//! key; and it can neither suggest the nearest spelling nor say what would be right.

use crate::error::Fault;
use serde_json::{Map, Value};

/// A JSON object that is being read, with its place in the order.
pub(super) struct Fields<'v> {
    path: String,
    map: &'v Map<String, Value>,
}

/// One value that is present, with its place in the order.
pub(super) struct Field<'v> {
    /// As in `requests[0].expect.statuses`.
    pub(super) path: String,
    value: &'v Value,
}

impl<'v> Fields<'v> {
    /// Opens `value` as an object that may have the `known` keys and no others.
    pub(super) fn open(value: &'v Value, path: &str, known: &[&str]) -> Result<Self, Fault> {
        let Some(map) = value.as_object() else {
            let name = if path.is_empty() { "the order" } else { path };
            return Err(Fault::order(path, format!("{name} must be an object, not {}", shown(value))));
        };
        if let Some(key) = map.keys().find(|k| !known.contains(&k.as_str())) {
            let at = join(path, key);
            let hint = match nearest(key, known) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("the known keys here are {}", known.join(", ")),
            };
            return Err(Fault::order(at.clone(), format!("{at} is not a known key; {hint}")));
        }
        Ok(Fields { path: path.to_string(), map })
    }

    /// The value of `key`, which must be there; `right` says what it should be.
    pub(super) fn required(&self, key: &str, right: &str) -> Result<Field<'v>, Fault> {
        let path = join(&self.path, key);
        match self.map.get(key) {
            Some(value) => Ok(Field { path, value }),
            None => Err(Fault::order(path.clone(), format!("{path} is missing; it must be {right}"))),
        }
    }

    /// The value of `key`; left out and null mean the same.
    pub(super) fn optional(&self, key: &str) -> Option<Field<'v>> {
        self.map.get(key).filter(|v| !v.is_null()).map(|value| Field { path: join(&self.path, key), value })
    }

    /// A required integer within `low..=high`.
    pub(super) fn integer(&self, key: &str, low: u64, high: u64) -> Result<u64, Fault> {
        self.required(key, &range(low, high))?.integer(low, high)
    }

    /// A required text.
    pub(super) fn text(&self, key: &str) -> Result<(String, &'v str), Fault> {
        let field = self.required(key, "a text")?;
        let text = field.text()?;
        Ok((field.path, text))
    }

    /// A required true or false.
    pub(super) fn flag(&self, key: &str) -> Result<bool, Fault> {
        let field = self.required(key, "true or false")?;
        field.value.as_bool().ok_or_else(|| field.wrong("true or false"))
    }
}

impl<'v> Field<'v> {
    /// An integer within `low..=high`.
    pub(super) fn integer(&self, low: u64, high: u64) -> Result<u64, Fault> {
        self.value.as_u64().filter(|n| (low..=high).contains(n)).ok_or_else(|| self.wrong(&range(low, high)))
    }

    /// A number, whole or not, within `low..=high`.
    pub(super) fn number(&self, low: f64, high: f64) -> Result<f64, Fault> {
        let number = self.value.as_f64().filter(|n| (low..=high).contains(n));
        number.ok_or_else(|| self.wrong(&format!("a number from {low} to {high}")))
    }

    /// The text at `key`, where this is an object that has one; for what must be known before its keys can be judged.
    pub(super) fn text_of(&self, key: &str) -> Option<&'v str> {
        self.value.get(key)?.as_str()
    }

    /// A text.
    pub(super) fn text(&self) -> Result<&'v str, Fault> {
        self.value.as_str().ok_or_else(|| self.wrong("a text"))
    }

    /// The items of a list.
    pub(super) fn list(&self, right: &str) -> Result<Vec<Field<'v>>, Fault> {
        let items = self.value.as_array().ok_or_else(|| self.wrong(right))?;
        let item = |(i, value)| Field { path: format!("{}[{i}]", self.path), value };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// An object with the `known` keys.
    pub(super) fn object(&self, known: &[&str]) -> Result<Fields<'v>, Fault> {
        Fields::open(self.value, &self.path, known)
    }

    /// The complaint about this value: it is not what it must be.
    pub(super) fn wrong(&self, right: &str) -> Fault {
        Fault::order(self.path.clone(), format!("{} must be {right}, not {}", self.path, shown(self.value)))
    }
}

fn range(low: u64, high: u64) -> String {
    if high == u64::MAX { format!("an integer of at least {low}") } else { format!("an integer from {low} to {high}") }
}

fn join(path: &str, key: &str) -> String {
    let key = if key.is_empty() { "\"\"" } else { key };
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

/// A value as it stands in a complaint: short, and on one line.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_string(),
        Value::Array(_) => "a list".to_string(),
        other => {
            let text = other.to_string();
            if text.chars().count() > 60 { text.chars().take(57).collect::<String>() + "..." } else { text }
        }
    }
}

/// The known key closest to `typed`, when it is close enough to be meant.
pub(crate) fn nearest<'k>(typed: &str, known: &[&'k str]) -> Option<&'k str> {
    if typed.len() > 64 {
        // No slip of the pen, and the table below has a row for each of its letters.
        return None;
    }
    let allowed = (typed.chars().count() / 3).max(1);
    let (distance, key) = known.iter().map(|k| (edits(typed, k), *k)).min()?;
    (distance <= allowed).then_some(key)
}

/// Optimal string alignment distance: insert, delete, replace, swap neighbours.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_spelling_is_found_within_a_third_of_the_letters() {
        let known = ["connections", "kind"];
        assert_eq!(Some("connections"), nearest("conections", &known));
        assert_eq!(Some("kind"), nearest("knid", &known));
        assert_eq!(None, nearest("rate", &known));
    }

    #[test]
    fn a_long_value_is_cut_in_a_complaint() {
        assert_eq!(60, shown(&Value::String("x".repeat(500))).chars().count());
    }
}
