//! SIGTERM and SIGINT stop the server; SIGHUP is taken and means nothing. A second SIGTERM or SIGINT ends the process.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::server::ServerHandle;

/// Has a thread wait for signals.
///
/// # Errors
/// The system takes no handler, or gives no thread.
pub fn stop_on_signals(server: ServerHandle) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    std::thread::Builder::new().name("meseta-signals".to_owned()).spawn(move || {
        let mut asked = false;
        for signal in signals.forever() {
            if signal == SIGHUP {
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
