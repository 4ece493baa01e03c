/** Which systems the gateway runs on. Imports nothing, so that it can be asked before anything is installed. */

/**
 * Why the gateway cannot run on this system, in words for the operator; undefined where it can.
 * The embedded PostgreSQL is reached over a unix socket, which Node cannot open on Windows, and no suite has ever run there.
 */
export function platformFault(platform = process.platform) {
  if (platform !== 'win32') return undefined;
  return `Lodestone does not run on Windows itself. It runs in WSL and in a container:
  WSL:       run "wsl --install" once, install Node 20.19 or newer in its Linux shell, and run the same command there.
  Container: docker build -t lodestone .
             docker run --rm -p 127.0.0.1:8787:8787 -v lodestone:/lodestone/data lodestone`;
}
