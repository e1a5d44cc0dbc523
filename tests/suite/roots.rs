//! Which directory is the workspace, which is the store, and what is refused as either.

use crate::sandbox::fixture::own;
use crate::sandbox::programs::is_root;
use crate::sandbox::{Sandbox, Tree};

const CAPTURE: &str = "stage_ls | stage_hash | stage_write --label l";

#[test]
fn a_root_given_through_a_link_is_resolved() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.sh("ln -s w $T/other").ok();
    let id = sandbox.call().env("WT_WORKSPACE", sandbox.t().join("other")).at(sandbox.t()).sh(CAPTURE).ok();
    let manifest = sandbox.stored().manifest_json(&id);
    assert_eq!(manifest["workspace"], sandbox.w().to_str().unwrap());
    assert_eq!(manifest["entries"].as_array().unwrap().len(), 1);
    assert_eq!(sandbox.sh(CAPTURE).ok(), id, "the same workspace by its own name");
}

#[test]
fn the_workspace_comes_from_the_option_the_environment_or_here() {
    let sandbox = Sandbox::new();
    sandbox.file("a/1", "").file("b/2", "").file("3", "");
    assert_eq!(sandbox.call().env("WT_WORKSPACE", "b").sh("wt-ls-files -C a").ok(), "1");
    assert_eq!(sandbox.call().env("WT_WORKSPACE", "b").sh("wt-ls-files").ok(), "2");
    assert_eq!(sandbox.call().env("WT_WORKSPACE", "").sh("wt-ls-files").ok(), "3\na/1\nb/2");
}

#[test]
fn what_is_no_directory_is_an_error_and_never_an_empty_capture() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").link("dangling", "nowhere").link("to f", "f").fifo("p");
    for root in ["nothing", "f", "dangling", "to f", "p", "f/below"] {
        sandbox.call().env("WT_WORKSPACE", sandbox.w().join(root)).sh(CAPTURE).fails(2);
    }
    assert!(!sandbox.s().exists());
}

#[test]
fn an_unreadable_root_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.dir("d").mode("d", 0o300);
    let ran = sandbox.call().env("WT_WORKSPACE", sandbox.w().join("d")).sh(CAPTURE);
    assert!(matches!(ran.code, 2 | 8), "{}", ran.text());
    assert!(sandbox.stored().ids().is_empty());
    sandbox.mode("d", 0o700);
}

#[test]
fn roots_that_nobody_means_are_refused() {
    let sandbox = Sandbox::new();
    let home = sandbox.t().join("home");
    sandbox.sh("ln -s $HOME $T/link; mkdir $ITERION_HOME; echo 1 >$HOME/f").ok();
    for root in [
        "/".into(),
        home.clone(),
        sandbox.t().join("link"),
        home.join("."),
        home.join(".iterion"),
        sandbox.t().into(),
    ] {
        let ran = sandbox.call().env("WT_WORKSPACE", &root).sh(CAPTURE);
        assert!(ran.fails(5).contains("--yes-this-root"), "{}", root.display());
    }
    let insisted = "stage_ls --yes-this-root | stage_hash | stage_write --label l";
    sandbox.call().env("WT_WORKSPACE", &home).sh(insisted).ok();
}

#[test]
fn a_capture_of_another_workspace_is_refused_unless_it_is_meant() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let first = sandbox.capture("l");
    sandbox.sh("cp -r $W $T/copy").ok();
    let other = || sandbox.call().env("WT_WORKSPACE", sandbox.t().join("copy"));
    let err = other().sh(CAPTURE).fails(5);
    assert!(err.contains("<T>/copy") && err.contains("<T>/w") && err.contains("--relocate"), "{err}");
    assert_eq!(sandbox.stored().ids(), [first.as_str()]);
    let relocated = other().sh("stage_ls | stage_hash | stage_write --relocate --label l").ok();
    assert_eq!(sandbox.stored().manifest(&relocated).parent, first);
    other().sh(CAPTURE).ok();
    sandbox.sh(CAPTURE).fails(5);
}

#[test]
fn a_workspace_that_was_renamed_is_another_path_and_the_same_directory_under_two_is_one() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.capture("l");
    sandbox.sh("mv $W $T/moved").ok();
    // The recorded path is gone, so nothing shows that this is the same directory.
    sandbox.call().env("WT_WORKSPACE", sandbox.t().join("moved")).at(sandbox.t()).sh(CAPTURE).fails(5);
    sandbox.call().at(sandbox.t()).sh("ln -s moved w").ok();
    sandbox.call().env("WT_WORKSPACE", sandbox.t().join("moved")).at(sandbox.t()).sh(CAPTURE).ok();
}

#[test]
fn a_store_inside_the_workspace_is_left_out_by_any_name() {
    for (store, prepare) in [
        ("w/x", ""),
        ("w/deep/er/x", ""),
        ("link", "mkdir $W/x; ln -s w/x $T/link"),
        ("w/link", "mkdir -p $W/x $W/y; ln -s x $W/link"),
        ("home/../w/x", ""),
    ] {
        let mut sandbox = Sandbox::new();
        sandbox.file("f", "1");
        sandbox.sh(prepare).ok();
        sandbox.set("WT_STORE", sandbox.t().join(store));
        for n in 1..4 {
            sandbox.sh(&format!("echo {n} >f")).ok();
            sandbox.sh(CAPTURE).ok();
        }
        let listed = sandbox.sh("wt-ls-manifest l; wt-ls-files --gaps").ok();
        let expected = "f";
        let files: Vec<&str> = listed.lines().filter(|name| *name != "link").collect();
        assert_eq!(files, [expected], "store at {store}");
    }
}

#[test]
fn a_store_that_is_bind_mounted_into_the_workspace_is_left_out() {
    if !is_root() {
        eprintln!("SKIPPED: only root can make a bind mount");
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.file("f", "1").dir("mnt");
    sandbox.capture("l");
    // The mount lives in a namespace of its own and goes away with it.
    let script = format!(
        "unshare -m sh -c 'mount --make-rprivate / && mount --bind $S $W/mnt && exec setpriv --reuid {0} --regid {0} --clear-groups wt-ls-files'",
        crate::sandbox::USER
    );
    let ran = sandbox.call().as_root().sh(&script);
    if ran.err().contains("unshare") || ran.err().contains("mount:") {
        eprintln!("SKIPPED: this machine does not allow mounts: {}", ran.err());
        return;
    }
    assert_eq!(ran.ok(), "f");
}

#[test]
fn a_store_that_is_the_workspace_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    for store in ["$W", "$W/.", "$W/../w"] {
        sandbox.sh(&format!("export WT_STORE={store}; {CAPTURE}")).fails(5);
    }
    assert_eq!(sandbox.tree().paths(), ["f"]);
}

#[test]
fn a_store_above_the_workspace_works_and_is_no_business_of_the_walk() {
    let sandbox = Sandbox::new();
    sandbox.sh("mkdir -p $X/store/work; echo 1 >$X/store/work/f; cd $X/store/work; export WT_STORE=$X/store; stage_ls | stage_hash | stage_write --label l; wt-ls-manifest l").ok();
}

#[test]
fn the_store_is_found_where_the_original_would_look() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    let flat = sandbox.w().to_str().unwrap().replace('/', "-");
    let home = sandbox.t().join("home/.iterion/projects").join(flat);
    sandbox.sh(&format!("unset WT_STORE; {CAPTURE}")).ok();
    assert!(home.join("runs/run/workspace/index.json").exists());
    assert_eq!(std::fs::read(home.join(".gitignore")).unwrap(), b"**\n");
    sandbox.sh(&format!("unset WT_STORE HOME ITERION_HOME; {CAPTURE}")).fails(2);
    // Only a directory that is a store counts.
    sandbox.sh(&format!("mkdir .iterion; unset WT_STORE; {CAPTURE}")).ok();
    assert_eq!(std::fs::read_dir(sandbox.path(".iterion")).unwrap().count(), 0);
    for mark in ["runs", "dispatcher", ".iterion-store"] {
        sandbox.sh("rm -rf .iterion; mkdir .iterion").ok();
        sandbox.dir(format!(".iterion/{mark}"));
        sandbox.sh(&format!("unset WT_STORE; {CAPTURE}")).ok();
        assert!(sandbox.path(".iterion/runs/run/workspace/index.json").exists(), "{mark}");
    }
}

#[test]
fn a_store_on_the_command_line_wins_over_the_environment() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.sh("wt-hash-object -w --store $X/other f").ok();
    assert!(sandbox.x("other").exists() && !sandbox.s().exists());
}

#[test]
fn a_run_directory_may_be_a_link() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    sandbox.sh("mkdir -p $S/runs $X/elsewhere; chmod 700 $S $S/runs; ln -s $X/elsewhere $S/runs/run").ok();
    sandbox.capture("l");
    assert!(sandbox.x("elsewhere/workspace/index.json").exists());
}

#[test]
fn a_deleted_run_does_not_come_back() {
    let sandbox = Sandbox::new();
    sandbox.file("f", "1");
    std::fs::create_dir_all(sandbox.s().join("runs/run")).unwrap();
    std::fs::write(sandbox.s().join("runs/run/.deleted"), "").unwrap();
    for path in ["", "runs", "runs/run", "runs/run/.deleted"] {
        own(&sandbox.s().join(path));
    }
    let before = Tree::of(&sandbox.s().join("runs"));
    sandbox.sh(CAPTURE).fails(2);
    before.assert_same(&Tree::of(&sandbox.s().join("runs")), "a late capture");
}
