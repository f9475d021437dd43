// A model applied from Rust:  rustc -L DIR apply.rs -l cgmca_c && ./apply MODEL prints the point of the mean of domain 1.
use std::ffi::{c_char, c_int, c_void, CStr, CString};

#[link(name = "cgmca_c")]
extern "C" {
    fn cgmca_model_load(path: *const c_char, model: *mut *mut c_void) -> c_int;
    fn cgmca_model_features(model: *const c_void, domain: c_int) -> i64;
    fn cgmca_model_dimension(model: *const c_void) -> i64;
    fn cgmca_apply_one(model: *const c_void, domain: c_int, x: *const f64, z: *mut f64) -> c_int;
    fn cgmca_last_message() -> *const c_char;
    fn cgmca_model_free(model: *mut c_void);
}

fn check(status: c_int) {
    assert!(status == 0, "{}", unsafe { CStr::from_ptr(cgmca_last_message()) }.to_string_lossy());
}

fn main() {
    let path = CString::new(std::env::args().nth(1).expect("a model")).unwrap();
    let mut model = std::ptr::null_mut();
    unsafe {
        check(cgmca_model_load(path.as_ptr(), &mut model));
        let x = vec![1.0; cgmca_model_features(model, 1) as usize];
        let mut z = vec![0.0; cgmca_model_dimension(model) as usize];
        check(cgmca_apply_one(model, 1, x.as_ptr(), z.as_mut_ptr()));
        println!("{:?}", z);
        cgmca_model_free(model);
    }
}
