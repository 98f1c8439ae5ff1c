package dev.isola.compat.e2b.envd;

import dev.isola.codec.digest.Sha256;
import dev.isola.server.route.Exchange;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;

/**
 * The signature in a URL, which proves that the client that signed the URL had the sandbox's token.
 * The signed values are used exactly as they were sent.
 *
 * @param operation {@code read} or {@code write}
 * @param expiration seconds since the Unix epoch, as text
 */
record UrlSignature(
    String value, String path, String operation, String user, Optional<String> expiration) {
  static final String READ = "read";
  static final String WRITE = "write";

  private static final String PREFIX = "v1_";

  /** Returns the signature of a request, if it has one. */
  static Optional<UrlSignature> of(Exchange exchange, String operation) {
    return exchange
        .query("signature")
        .map(
            value ->
                new UrlSignature(
                    value,
                    exchange.query("path").orElse(""),
                    operation,
                    exchange.query("username").orElse(""),
                    exchange.query("signature_expiration")));
  }

  /** Computes the signature for a token. */
  String compute(String token) {
    String text =
        path + ":" + operation + ":" + user + ":" + token + expiration.map(e -> ":" + e).orElse("");
    return PREFIX + Base64.getEncoder().withoutPadding().encodeToString(Sha256.of(text));
  }

  boolean isValidFor(String token) {
    return MessageDigest.isEqual(
        compute(token).getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8));
  }

  /** Throws if a valid signature has expired. */
  void checkNotExpired(Instant now) {
    if (expiration.isPresent()
        && (!expiration.get().matches("[0-9]{1,12}")
            || Instant.ofEpochSecond(Long.parseLong(expiration.get())).isBefore(now))) {
      throw unauthenticated("signature is already expired");
    }
  }

  static SandboxException unauthenticated(String what) {
    return Fault.of(ErrorCode.UNAUTHENTICATED, what, "").exception();
  }
}
