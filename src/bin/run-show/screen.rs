//! [`Screen`]: lines that are cut to a width, but for those that somebody will paste.

/// What will be on the screen.
#[derive(Default)]
pub(crate) struct Screen(Vec<(String, Cut)>);

/// Whether a line may lose its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Yes,
    No,
}

/// Columns between two of a table.
const GAP: &str = "  ";

impl Screen {
    /// A line of text.
    pub(crate) fn line(&mut self, text: impl Into<String>) {
        self.0.push((text.into(), Cut::Yes));
    }

    /// A line that must stay whole.
    pub(crate) fn whole(&mut self, text: impl Into<String>) {
        self.0.push((text.into(), Cut::No));
    }

    /// A heading, with an empty line before it.
    pub(crate) fn heading(&mut self, text: &str) {
        self.line("");
        self.line(text);
    }

    /// A table; the columns are as wide as what is in them. Numbers stand to the right.
    pub(crate) fn table(&mut self, head: &[(&str, Align)], rows: &[Vec<String>]) {
        // A column in which nothing stands says nothing.
        let used: Vec<usize> = (0..head.len())
            .filter(|column| rows.iter().any(|row| row.get(*column).is_some_and(|cell| !cell.is_empty())))
            .collect();
        let names: Vec<String> = head.iter().map(|(name, _)| (*name).to_owned()).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&names).chain(rows).collect();
        let cell = |line: &Vec<String>, column: usize| line.get(column).cloned().unwrap_or_default();
        let width = |column: usize| lines.iter().map(|line| cell(line, column).chars().count()).max().unwrap_or(0);
        for line in &lines {
            let cells: Vec<String> = used
                .iter()
                .map(|column| {
                    let (text, width) = (cell(line, *column), width(*column));
                    match head.get(*column) {
                        Some((_, Align::Right)) => format!("{text:>width$}"),
                        _ => format!("{text:<width$}"),
                    }
                })
                .collect();
            self.line(format!("{GAP}{}", cells.join(GAP)).trim_end());
        }
    }

    /// The lines, none longer than so many columns unless it has to be.
    pub(crate) fn lines(self, columns: Option<usize>) -> impl Iterator<Item = String> {
        self.0.into_iter().map(move |(text, cut)| match columns.filter(|columns| *columns > 1 && cut == Cut::Yes) {
            Some(columns) if text.chars().count() > columns => {
                text.chars().take(columns - 1).collect::<String>() + "\u{2026}"
            }
            _ => text,
        })
    }
}

/// To which side what stands in a column leans.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// How wide the terminal is, if standard output is one that says so.
pub(crate) fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
