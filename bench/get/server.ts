// The store of get-cost, in a process of its own so that its CPU time does not count: every GET is answered at once with the
// same body and the headers that S3 sends. It checks no signature; what it costs to make one is the client's.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ETAG } from './object-set.js';

const objectBytes = Number(process.argv[2]);
const body = Buffer.alloc(objectBytes, 7);
const headers = {
  'x-amz-id-2': 'c29tZSB0ZXh0IG9mIHRoZSBsZW5ndGggdGhhdCBTMyBzZW5kcyBoZXJlLCBhYm91dCA3NiBjaGFyYWN0ZXJz',
  'x-amz-request-id': '7B4A0FABBEXAMPLE',
  'Last-Modified': 'Wed, 12 Oct 2022 17:50:00 GMT',
  ETag: ETAG,
  'Accept-Ranges': 'bytes',
  'Content-Type': 'image/jpeg',
  'Content-Length': objectBytes,
  Server: 'bench',
};

const server = createServer(
  { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 },
  (_request, response) => {
    response.writeHead(200, headers);
    response.end(body);
  },
);
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => {
  server.closeAllConnections();
  server.close();
});
