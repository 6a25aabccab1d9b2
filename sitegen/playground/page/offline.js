/* The worker that keeps the files of the page, so that it opens without a network. It asks nobody but its own origin.
   A new version is fetched whole, beside the old one, and used when no tab has the old one open any more. Another copy of the
   page on this origin has files of its own, by its scope. */
const VERSION = "@VERSION@";
const FILES = @FILES@;
const OURS = `playground ${self.registration.scope} `;
const NAME = `${OURS}${VERSION}`;

self.addEventListener("install", (event) => {
  const all = FILES.map((each) => new Request(each, { cache: "no-cache" }));
  event.waitUntil(caches.open(NAME).then((kept) => kept.addAll(all)));
});

self.addEventListener("activate", (event) => {
  const old = (name) => name.startsWith(OURS) && name !== NAME;
  const tidy = caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))));
  event.waitUntil(tidy.then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) { return; }
  event.respondWith(caches.open(NAME)
    .then((kept) => kept.match(request, { ignoreSearch: true }))
    .then((found) => found ?? fetch(request)));
});
