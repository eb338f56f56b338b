// The plain answers with Hono, for every runtime that it runs on; Deno serves this file as it is.
import { Hono } from 'hono';

const app = new Hono();
app.get('/', (context) => context.text('Hello, World!'));
app.get('/json', (context) => context.json({ message: 'Hello, World!' }));

export default app;
