//! SIGTERM and SIGINT stop the server; a second one ends the process. SIGHUP has it open its logs anew.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::server::ServerHandle;

/// Has a thread wait for signals; `flush_logs` is called at SIGHUP.
///
/// # Errors
/// The system takes no handler, or gives no thread.
pub fn heed(server: ServerHandle, flush_logs: impl Fn() + Send + 'static) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    std::thread::Builder::new().name("meseta-signals".to_owned()).spawn(move || {
        let mut asked = false;
        for signal in signals.forever() {
            if signal == SIGHUP {
                flush_logs();
                continue;
            }
            if asked {
                tracing::error!("asked twice to stop: ending at once; the next start recovers");
                std::process::exit(1);
            }
            asked = true;
            tracing::info!(signal, "stopping");
            crate::notify::stopping();
            server.shutdown();
        }
    })?;
    Ok(())
}
