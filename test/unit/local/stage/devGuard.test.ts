import { expect, it } from 'vitest';
import { refusalInDevMode } from '../../../../local/stage/devGuard.ts';

it.each([
  { host: 'localhost:8080' },
  { host: 'LOCALHOST' },
  { host: 'app.localhost:9000' },
  { host: '127.0.0.1:8080' },
  { host: '127.8.9.10' },
  { host: '[::1]:8080' },
  { host: 'localhost:8080', origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' },
  { host: '127.0.0.1:8080', 'sec-fetch-site': 'none' },
  // Node’s own fetch.
  { host: '127.0.0.1:8080', 'sec-fetch-mode': 'cors' },
])('allows %o', (headers) => {
  expect(refusalInDevMode(headers)).toBeUndefined();
});

it.each([
  [{}, 'Host'],
  [{ host: '' }, 'Host'],
  [{ host: 'rebound.example:8080' }, 'Host'],
  [{ host: 'localhost.example' }, 'Host'],
  [{ host: '127.0.0.1.example' }, 'Host'],
  [{ host: 'notlocalhost' }, 'Host'],
  [{ host: '192.168.1.4:8080' }, 'Host'],
  [{ host: '[::2]:8080' }, 'Host'],
  [{ host: 'localhost:8080', origin: 'https://evil.example' }, 'Origin'],
  [{ host: 'localhost:8080', origin: 'null' }, 'Origin'],
  [{ host: 'localhost:8080', origin: 'http://localhost:3000' }, 'Origin'],
  [{ host: 'localhost:8080', origin: 'http://127.0.0.1:8080' }, 'Origin'],
  [{ host: 'localhost:8080', 'sec-fetch-site': 'cross-site' }, 'Sec-Fetch-Site'],
])('refuses %o, and names %s', (headers, field) => {
  expect(refusalInDevMode(headers)).toContain(`The request's ${field} is`);
});
