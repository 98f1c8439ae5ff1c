package dev.isola.link;

import java.time.Instant;
import java.util.HexFormat;

/**
 * What the agent of a sandbox that was held observes of its kernel. The server compares it, because
 * a copy of the sandbox must have the right time and other random bytes.
 *
 * @param time the sandbox's clock
 * @param random fresh bytes of the kernel's random number generator, in hexadecimal digits
 */
public record KernelEvidence(Instant time, String random) {
  static KernelEvidence of(WireFields fields) {
    long nanos = fields.number(FieldTag.TIME_NS);
    byte[] random = fields.bytes(FieldTag.NONCE);
    if (random.length != Wire.NONCE_SIZE) {
      throw new ProtocolViolation(random.length + " random bytes");
    }
    return new KernelEvidence(Timestamps.instant(nanos), HexFormat.of().formatHex(random));
  }
}
