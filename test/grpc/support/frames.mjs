/** Frames of HTTP/2 written by hand, for tests and for programs that run without them. */

export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, window: 8, continuation: 9 };

export function frame(type, flags, stream, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function text(part) {
  const bytes = Buffer.from(part);
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const prefix = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest >>= 7) prefix.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...prefix, rest]), bytes]);
}

export function literal(name, value) {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

export function callHead(path, more = []) {
  const fields = [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "h"],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
  ];
  return Buffer.concat([...fields, ...more].map(([name, value]) => literal(name, value)));
}

export function onFrames(socket, saw, skip = 0) {
  let bytes = Buffer.alloc(0);
  let skipped = skip;
  socket.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length < skipped) return;
    bytes = bytes.subarray(skipped);
    skipped = 0;
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const [type = -1, flags = 0] = bytes.subarray(3);
      const stream = bytes.readUInt32BE(5);
      const payload = bytes.subarray(9, 9 + bytes.readUIntBE(0, 3));
      bytes = bytes.subarray(9 + payload.length);
      saw(type, { flags, stream, payload });
    }
  });
}
