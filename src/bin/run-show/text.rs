//! The report as a person reads it. Whatever a run holds, it cannot drive the terminal: control characters are masked.

use workspacetrack::clock;
use workspacetrack::run::events::event::Event;
use workspacetrack::run::events::view::{self, Colour};
use workspacetrack::run::json::Json;
use workspacetrack::run::route::ATTEMPTS_MAX;
use workspacetrack::run::status::Status as RunStatus;
use workspacetrack::stream::quote;

use crate::screen::{Align, Screen};

/// Longest piece of free text on a line, in characters.
const TEXT_CHARS_MAX: usize = 300;

/// Puts the report on a screen.
pub(crate) fn screen(report: &Json) -> Screen {
    let mut screen = Screen::default();
    let now = clock::now_ns();
    head(report, now, &mut screen);
    next(report, &mut screen);
    pending(report, now, &mut screen);
    nodes(report, &mut screen);
    events(report, &mut screen);
    snapshots(report, now, &mut screen);
    if let Some(deployment) = report.get("deployment") {
        deployed(deployment, &mut screen);
    }
    for (section, title) in [("work", "WORK"), ("tree", "OTHER RUNS")] {
        if let Some(members) = report.get(section) {
            screen.heading(title);
            for (key, value) in members.members() {
                screen.line(format!("  {} {}", plain(key), shown(value)));
            }
        }
    }
    let problems = report.get("problems").map(Json::elements).unwrap_or_default();
    if !problems.is_empty() {
        screen.heading("COULD NOT BE READ");
        problems.iter().for_each(|problem| screen.line(format!("  {}", shown(problem))));
    }
    screen
}

/// Text without what could drive a terminal, on one line, and not endless.
fn plain(text: &str) -> String {
    let start: String = text.chars().take(TEXT_CHARS_MAX + 1).collect();
    let mut masked = quote::masked(start.as_bytes());
    if start.chars().count() > TEXT_CHARS_MAX {
        masked.push('\u{2026}');
    }
    masked
}

/// A value: a text as it is, anything else as JSON.
fn shown(value: &Json) -> String {
    match value.text() {
        Some(text) => plain(&text),
        None => plain(&value.compact()),
    }
}

fn field(json: &Json, key: &str) -> String {
    json.get(key).map(shown).unwrap_or_default()
}

/// A time to the second, and how long ago that was.
fn since(text: &str, now_ns: u64) -> String {
    let Some(ns) = clock::parse_rfc3339(text).and_then(|ns| u64::try_from(ns).ok()) else { return plain(text) };
    format!("{} ({})", clock::rfc3339(ns / 1_000_000_000 * 1_000_000_000), clock::age(ns, now_ns))
}

/// A span of milliseconds in the largest two units that fit.
fn span(ms: i64) -> String {
    let seconds = ms / 1000;
    match seconds {
        ..10 => format!("{}.{} s", seconds, ms % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn labelled(screen: &mut Screen, label: &str, text: &str) {
    if !text.is_empty() {
        screen.line(format!("{label:<9}{text}"));
    }
}

fn head(report: &Json, now: u64, screen: &mut Screen) {
    let name = field(report, "name");
    let name = if name.is_empty() { name } else { format!(" ({name})") };
    labelled(screen, "run", &format!("{}{name}", field(report, "run")));
    let from = ["workflow_name", "bundle_name", "bot_id", "file_path"].map(|key| field(report, key));
    labelled(
        screen,
        "workflow",
        &from.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(", "),
    );
    let is_over = RunStatus::parse(&report.text_of("status")).is_some_and(RunStatus::is_terminal);
    let times = [("finished_at", " since"), ("updated_at", ", last changed")]
        .map(|(key, words)| (report.text_of(key), words));
    let time = times.iter().skip(usize::from(!is_over)).find(|(time, _)| !time.is_empty());
    let time = time.map(|(time, words)| format!("{words} {}", since(time, now))).unwrap_or_default();
    labelled(screen, "status", &format!("{}{time}", field(report, "status")));
    let cause = ["failure_code", "end_reason", "error"].map(|key| field(report, key));
    labelled(
        screen,
        "cause",
        &cause.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(": "),
    );
    let mut episode = Vec::new();
    let retry = report.get("retry_state").cloned().unwrap_or_default();
    for (json, key, what) in [
        (report, "outcome_seq", "episode"),
        (report, "continuation_state", "then"),
        (&retry, "retry_after", "retry at"),
        (&retry, "attempts", "attempts"),
    ] {
        let text = field(json, key);
        if !text.is_empty() {
            episode.push(format!("{what} {text}"));
        }
    }
    labelled(screen, "outcome", &episode.join(", "));
    if let Some(route) = report.get("route") {
        labelled(screen, "routing", &routing(route));
    }
    if let Some(liveness) = report.get("liveness") {
        labelled(screen, "engine", &format!("{}: {}", field(liveness, "verdict"), field(liveness, "detail")));
    }
    labelled(screen, "lock", &field(report, "lock"));
    if let Some(checkpoint) = report.get("checkpoint") {
        let keys = ["pending_node_id", "node_id", "recovery_code"];
        let at = keys.map(|key| field(checkpoint, key));
        labelled(screen, "at", &at.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(", "));
    }
    labelled(screen, "created", &since(&report.text_of("created_at"), now));
    labelled(screen, "spent", &spent(report));
    let messages = field(report, "messages_pending");
    if !messages.is_empty() {
        labelled(screen, "messages", &format!("{messages} from operators, not delivered yet"));
    }
}

/// Who acts on the present outcome, or what came of that.
fn routing(route: &Json) -> String {
    let [owner, until, attempts, error] =
        ["lease_owner", "lease_until", "attempts", "last_error"].map(|key| field(route, key));
    let of = format!("attempt {attempts} of {ATTEMPTS_MAX}");
    let told = if error.is_empty() { error } else { format!(": {error}") };
    match &*route.text_of("standing") {
        "live" => format!("claimed by {owner} until {until}, {of}"),
        "lapsed" => format!("the claim of {owner} ran out at {until}, {of}"),
        "failed" => format!("{owner} failed in {of}{told}"),
        "exhausted" if route.text_of("state") == "claimed" => {
            format!(
                "nobody may claim it again after {attempts} attempts, the last one by {owner}: ran out at {until}"
            )
        }
        "exhausted" => {
            format!("nobody may claim it again after {attempts} attempts, the last one by {owner}{told}")
        }
        "foreign" => format!("nobody can tell: {}", field(route, "reason")),
        _ => format!("done by {owner} in {of}"),
    }
}

fn spent(report: &Json) -> String {
    let Some(totals) = report.get("totals") else { return String::new() };
    let mut parts = Vec::new();
    for (key, unit) in [("tokens", " tokens"), ("cost_usd", " USD")] {
        let number = field(totals, key);
        if !number.is_empty() {
            parts.push(number + unit);
        }
    }
    if let Some(ms) = totals.get("active_ms").and_then(Json::as_integer) {
        parts.push(format!("{} active", span(ms)));
    }
    let budget = report.get("budget").map(Json::members).unwrap_or_default();
    let caps: Vec<_> = budget.iter().map(|(key, cap)| format!("{} {}", plain(key), shown(cap))).collect();
    if !caps.is_empty() {
        parts.push(format!("of {}", caps.join(", ")));
    }
    parts.join(", ")
}

fn next(report: &Json, screen: &mut Screen) {
    let Some(posture) = report.get("posture") else { return };
    screen.heading("WHAT TO DO");
    screen.line(format!("  {}", field(posture, "summary")));
    for step in posture.get("next").map(Json::elements).unwrap_or_default() {
        screen.line(format!("  {}:", field(step, "why")));
        screen.whole(format!("      {}", quote::masked(step.text_of("command").as_bytes())));
    }
}

fn pending(report: &Json, now: u64, screen: &mut Screen) {
    let pending = report.get("pending").map(Json::elements).unwrap_or_default();
    if pending.is_empty() {
        return;
    }
    screen.heading("QUESTIONS");
    for question in pending {
        let kind = field(question, "kind");
        let kind = if kind.is_empty() { "blocking" } else { &kind };
        let (id, node) = (field(question, "id"), field(question, "node_id"));
        screen.line(format!("  {id}  {kind}, node {node}, {}", since(&question.text_of("requested_at"), now)));
        for (key, text) in question.get("questions").map(Json::members).unwrap_or_default() {
            screen.line(format!("      {}: {}", plain(key), shown(text)));
        }
    }
}

fn nodes(report: &Json, screen: &mut Screen) {
    let nodes = report.get("nodes").map(Json::elements).unwrap_or_default();
    if nodes.is_empty() {
        return;
    }
    screen.heading("NODES");
    let head = [
        ("node", Align::Left),
        ("branch", Align::Left),
        ("status", Align::Left),
        ("times", Align::Right),
        ("began", Align::Left),
        ("took", Align::Right),
        ("model", Align::Left),
        ("tokens", Align::Right),
        ("USD", Align::Right),
    ];
    let rows: Vec<_> = nodes.iter().map(node).collect();
    screen.table(&head, &rows);
}

fn node(node: &Json) -> Vec<String> {
    let models: Vec<_> = node.get("models").map(Json::elements).unwrap_or_default().iter().map(shown).collect();
    let served = node.get("served").map(|served| {
        let parts = ["model", "backend", "fingerprint"].map(|key| field(served, key));
        parts.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(" ")
    });
    let model = served.filter(|text| !text.is_empty()).unwrap_or_else(|| models.join(" "));
    let number = |key: &str| node.get(key).and_then(Json::as_integer).filter(|number| *number > 0);
    let began = field(node, "started_at");
    let began = began.split('.').next().unwrap_or_default().trim_end_matches('Z').replacen('T', " ", 1);
    vec![
        field(node, "node"),
        field(node, "branch"),
        field(node, "status"),
        number("iterations").map(|times| times.to_string()).unwrap_or_default(),
        began,
        number("ms").map(span).unwrap_or_default(),
        model,
        field(node, "tokens"),
        field(node, "cost_usd"),
    ]
}

fn events(report: &Json, screen: &mut Screen) {
    let Some(events) = report.get("events") else { return };
    let last = events.get("last").map(Json::elements).unwrap_or_default();
    let count = field(events, "count");
    if last.is_empty() {
        return;
    }
    let count = if count.is_empty() { "ones".into() } else { format!("of {count}") };
    screen.heading(&format!("EVENTS (the last {count})"));
    for event in last {
        let line = event.compact();
        if let Ok(event) = Event::parse(line.as_bytes()) {
            let mut text = Vec::new();
            view::append(&event, Colour::Off, &mut text);
            screen.line(format!("  {}", String::from_utf8_lossy(&text).trim_end()));
        }
    }
}

fn snapshots(report: &Json, now: u64, screen: &mut Screen) {
    let Some(snapshots) = report.get("snapshots") else { return };
    screen.heading(&format!("SNAPSHOTS (the newest of {})", field(snapshots, "count")));
    for row in snapshots.get("newest").map(Json::elements).unwrap_or_default() {
        let labels: Vec<_> = row.get("labels").map(Json::elements).unwrap_or_default().iter().map(shown).collect();
        let (id, files) = (field(row, "id"), field(row, "files"));
        screen.line(format!(
            "  {id}  {}  {files} files  {}",
            since(&row.text_of("created_at"), now),
            labels.join(" ")
        ));
    }
    for (label, id) in snapshots.get("banks").map(Json::members).unwrap_or_default() {
        screen.line(format!("  bank {}  {}", shown(id), plain(label)));
    }
}

fn deployed(deployment: &Json, screen: &mut Screen) {
    screen.heading("DEPLOYMENT");
    let is = |json: &Json, key: &str| json.get(key).and_then(Json::as_boolean) == Some(true);
    let state = match (is(deployment, "deployed"), is(deployment, "healthy")) {
        (true, true) => "deployed and healthy",
        (true, false) => "deployed, and not healthy",
        (false, _) => "not deployed",
    };
    let trace = match deployment.get("trace") {
        None => "no gate has looked at it".to_owned(),
        Some(trace) if !is(trace, "verifiable") => {
            "whether it is traceable cannot be told: the gate could not look".to_owned()
        }
        Some(trace) => {
            let missing: Vec<_> = [
                ("pushed", "its commit is not pushed"),
                ("image_from_repo", "its image is not that of the repository"),
                ("built_from_head", "it was not built from the head"),
            ]
            .into_iter()
            .filter(|(key, _)| !is(trace, key))
            .map(|(_, why)| why)
            .collect();
            if missing.is_empty() { "traceable".into() } else { format!("not traceable: {}", missing.join(", ")) }
        }
    };
    screen.line(format!("  {state}; {trace}"));
    for key in ["url", "image_ref", "commit", "node_id", "notes"] {
        let text = field(deployment, key);
        if !text.is_empty() {
            screen.line(format!("  {key} {text}"));
        }
    }
}
