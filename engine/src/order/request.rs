//! The requests of an order and what a correct answer to each is.

use super::Version;
use super::fields::{Field, Fields};
use crate::error::Fault;
use crate::wire::h2::encode::FORBIDDEN;
use base64::{Engine, engine::general_purpose::STANDARD};

const KEYS: &[&str] = &["name", "method", "path", "headers", "body_base64", "weight", "expect"];
/// Since schema 3.
const TEMPLATE: &str = "template";
const EXPECT_KEYS: &[&str] = &["statuses", "body_sha256", "body_length", "body_contains", "content_type"];

/// One request, as ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What people call it.
    pub name: String,
    /// As in `GET`.
    pub method: String,
    /// The request target, as in `/?q=1`.
    pub path: String,
    /// In the order given.
    pub headers: Vec<(String, String)>,
    /// Sent after the headers.
    pub body: Option<Vec<u8>>,
    /// Whether placeholders in path, header values and body are filled in each time.
    pub template: bool,
    /// Its share among the requests.
    pub weight: u32,
    /// What a correct answer is.
    pub expect: Expect,
}

/// What a correct answer is. Rules that are `None` are not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// The status is one of these.
    pub statuses: Vec<u16>,
    /// SHA-256 of the decoded body.
    pub body_sha256: Option<[u8; 32]>,
    /// Length of the decoded body.
    pub body_length: Option<u64>,
    /// The decoded body contains this.
    pub body_contains: Option<Vec<u8>>,
    /// Media type without parameters, in lower case.
    pub content_type: Option<String>,
}

impl Request {
    /// Whether it may be sent again where the server may have worked on it already (RFC 9110, 9.2.2).
    pub fn is_idempotent(&self) -> bool {
        ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(&self.method.as_str())
    }
}

impl Expect {
    /// Whether a rule is about the content of the body, so that all of it must be seen.
    pub fn has_content(&self) -> bool {
        self.body_sha256.is_some() || self.body_contains.is_some()
    }
}

impl Default for Expect {
    fn default() -> Self {
        Expect { statuses: vec![200], body_sha256: None, body_length: None, body_contains: None, content_type: None }
    }
}

/// All requests of the order.
pub(super) fn list(order: &Fields<'_>, schema: u64, version: Version) -> Result<Vec<Request>, Fault> {
    let right = "a list of one or more requests";
    let field = order.required("requests", right)?;
    let items = field.list(right)?;
    if items.is_empty() {
        return Err(field.wrong(right));
    }
    let known = [KEYS, if schema < 3 { &[] } else { &[TEMPLATE] }].concat();
    items.iter().map(|item| request(item, &known, version)).collect()
}

fn request(item: &Field<'_>, known: &[&str], version: Version) -> Result<Request, Fault> {
    let fields = item.object(known)?;
    let (_, name) = fields.text("name")?;
    let weight = match fields.optional("weight") {
        Some(weight) => weight.integer(1, 1_000_000)? as u32,
        None => 1,
    };
    let template = fields.optional(TEMPLATE).is_some() && fields.flag(TEMPLATE)?;
    if let Some(field) = fields.optional(TEMPLATE).filter(|_| template && version == Version::Http2) {
        return Err(field.wrong("false when http is \"2\", whose requests are prepared once"));
    }
    let request = Request {
        name: name.to_string(),
        method: method(&fields)?,
        path: path(&fields)?,
        headers: headers(&fields, version)?,
        body: fields.optional("body_base64").map(|f| body(&f)).transpose()?,
        template,
        weight,
        expect: fields.optional("expect").map(|f| expect(&f)).transpose()?.unwrap_or_default(),
    };
    if template {
        placeholders(&item.path, &request)?;
    }
    Ok(request)
}

/// Every placeholder is one that there is.
fn placeholders(at: &str, request: &Request) -> Result<(), Fault> {
    let check = |key: String, text: &[u8]| {
        let wrong = |why| Fault::order(key.clone(), format!("{key} {why}"));
        crate::wire::template::cut(text, &mut 0).map(drop).map_err(wrong)
    };
    check(format!("{at}.path"), request.path.as_bytes())?;
    for (i, (_, value)) in request.headers.iter().enumerate() {
        check(format!("{at}.headers[{i}][1]"), value.as_bytes())?;
    }
    check(format!("{at}.body_base64"), request.body.as_deref().unwrap_or_default())
}

fn method(fields: &Fields<'_>) -> Result<String, Fault> {
    let field = fields.required("method", "a method such as \"GET\"")?;
    let text = field.text()?;
    if text.is_empty() || !text.bytes().all(crate::wire::is_token) {
        return Err(field.wrong("a method such as \"GET\""));
    }
    if text == "CONNECT" {
        // RFC 9110, 9.3.6: a success turns the connection into a tunnel; there is no answer to measure in it.
        return Err(field.wrong("a method that is answered; CONNECT opens a tunnel"));
    }
    Ok(text.to_string())
}

fn path(fields: &Fields<'_>) -> Result<String, Fault> {
    let right = "a path such as \"/\", with its query, percent-encoded, without scheme and host";
    let field = fields.required("path", right)?;
    let text = field.text()?;
    let begins = text.starts_with('/') || text == "*";
    // RFC 9112, 3.2: no white space within the request target; RFC 3986: ASCII only, and no fragment.
    if !begins || !text.bytes().all(|b| b.is_ascii_graphic() && b != b'#') {
        return Err(field.wrong(right));
    }
    Ok(text.to_string())
}

fn headers(fields: &Fields<'_>, version: Version) -> Result<Vec<(String, String)>, Fault> {
    let right = "a list of [name, value] pairs";
    let Some(field) = fields.optional("headers") else { return Ok(Vec::new()) };
    field.list(right)?.iter().map(|item| header(item, version)).collect()
}

fn header(item: &Field<'_>, version: Version) -> Result<(String, String), Fault> {
    let right = "a pair [name, value] of texts";
    let pair = item.list(right)?;
    let [name, value] = pair.as_slice() else { return Err(item.wrong(right)) };
    let (name_text, value_text) = (name.text()?, value.text()?);
    if name_text.is_empty() || !name_text.bytes().all(crate::wire::is_token) {
        return Err(name.wrong("a header name such as \"Accept\""));
    }
    // RFC 9110, 5.5: CR, LF and NUL in a value are how headers are smuggled in.
    if value_text.contains(['\r', '\n', '\0']) {
        return Err(value.wrong("a value without line ends and NUL"));
    }
    // The engine frames the body itself; a second opinion about its length would desynchronise the connection.
    if ["content-length", "transfer-encoding"].iter().any(|n| name_text.eq_ignore_ascii_case(n)) {
        return Err(name.wrong("a header other than Content-Length and Transfer-Encoding, which the engine writes"));
    }
    // RFC 9113, 8.2.2: HTTP/2 frames messages itself; of these only `TE: trailers` still has a meaning.
    let is = |n: &&str| name_text.eq_ignore_ascii_case(n);
    if version == Version::Http2 && (FORBIDDEN.iter().any(is) || is(&"te") && value_text.trim() != "trailers") {
        return Err(name.wrong("a header that HTTP/2 has; those about the connection it has not"));
    }
    Ok((name_text.to_string(), value_text.to_string()))
}

fn body(field: &Field<'_>) -> Result<Vec<u8>, Fault> {
    STANDARD.decode(field.text()?).map_err(|_| field.wrong("base64 with padding (RFC 4648, section 4)"))
}

fn expect(field: &Field<'_>) -> Result<Expect, Fault> {
    let fields = field.object(EXPECT_KEYS)?;
    let contains = fields.optional("body_contains");
    let media = fields.optional("content_type");
    Ok(Expect {
        statuses: fields.optional("statuses").map(|f| statuses(&f)).transpose()?.unwrap_or_else(|| vec![200]),
        body_sha256: fields.optional("body_sha256").map(|f| digest(&f)).transpose()?,
        body_length: fields.optional("body_length").map(|f| f.integer(0, u64::MAX)).transpose()?,
        body_contains: contains.map(|f| f.text().map(|t| t.as_bytes().to_vec())).transpose()?,
        content_type: media.map(|f| media_type(&f)).transpose()?,
    })
}

fn statuses(field: &Field<'_>) -> Result<Vec<u16>, Fault> {
    let right = "a list of one or more statuses from 200 to 999";
    let items = field.list(right)?;
    if items.is_empty() {
        return Err(field.wrong(right));
    }
    items.iter().map(|item| item.integer(200, 999).map(|s| s as u16)).collect()
}

fn digest(field: &Field<'_>) -> Result<[u8; 32], Fault> {
    let right = "64 hexadecimal digits, the SHA-256 of the body";
    let text = field.text()?;
    if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(field.wrong(right));
    }
    let nibble = |b: u8| (b as char).to_digit(16).unwrap_or(0) as u8;
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = nibble(pair[0]) << 4 | nibble(pair[1]);
    }
    Ok(digest)
}

fn media_type(field: &Field<'_>) -> Result<String, Fault> {
    let right = "a media type without parameters, such as \"application/json\"";
    let text = field.text()?;
    let parts: Vec<&str> = text.split('/').collect();
    if parts.len() != 2 || parts.iter().any(|p| p.is_empty() || !p.bytes().all(crate::wire::is_token)) {
        return Err(field.wrong(right));
    }
    Ok(text.to_ascii_lowercase())
}
