pub mod error;
pub mod store;
pub mod stream;
mod sys;
pub mod tree;
