pub mod id;
pub mod relpath;
