// The plain answers for `deno serve`, which starts as many threads as DENO_JOBS says, each with an event loop.
function answer(request) {
  const { pathname } = new URL(request.url);
  if (pathname === '/') return new Response('Hello, World!');
  if (pathname === '/json') return Response.json({ message: 'Hello, World!' });
  return new Response('not found', { status: 404 });
}

export default { fetch: answer };
