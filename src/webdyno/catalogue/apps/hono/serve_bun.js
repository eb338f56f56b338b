// serve_bun.js HOST PORT WORKERS: the app on Bun, in one process per worker when there are several.
import app from './app.js';

const [host, port, workers] = process.argv.slice(2);

if (Number(workers) > 1) {
  // Bun's own advice: processes that share the port, among which the kernel distributes connections
  const one = [process.execPath, import.meta.path, host, port, '1'];
  const processes = Array.from({ length: Number(workers) }, () => Bun.spawn(one, { stdio: ['ignore', 'inherit', 'inherit'] }));
  process.on('SIGTERM', () => {
    for (const worker of processes) worker.kill('SIGTERM');
    process.exit(0);
  });
} else {
  Bun.serve({ hostname: host, port: Number(port), reusePort: true, idleTimeout: 60, fetch: app.fetch });
}
