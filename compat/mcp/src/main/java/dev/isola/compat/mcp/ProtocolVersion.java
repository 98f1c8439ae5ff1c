package dev.isola.compat.mcp;

import dev.isola.server.route.Exchange;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The version of the protocol that a request has, and the rules of its era. Until 2025-11-25,
 * {@code initialize} negotiates a version; since 2026-07-28, every request states its version and
 * repeats its method and name in headers, so that proxies can route it.
 */
final class ProtocolVersion {
  static final String MODERN = "2026-07-28";

  /** Versions with a handshake, newest first. */
  static final List<String> HANDSHAKE =
      List.of("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05");

  private static final String HEADER = "MCP-Protocol-Version";
  private static final String VERSION = "io.modelcontextprotocol/protocolVersion";
  private static final String CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
  private static final String BASE64 = "=?base64?";

  private ProtocolVersion() {}

  /** Returns whether a request is of the era without sessions. */
  static boolean isModern(Exchange exchange, RpcMessage message) {
    Optional<String> header = exchange.header(HEADER);
    return message.meta().containsKey(VERSION)
        || (header.isPresent()
            && !HANDSHAKE.contains(header.get())
            && !message.method().equals(Optional.of("initialize")));
  }

  /** Returns the version that a handshake agrees on. */
  static String negotiate(Optional<String> requested) {
    return requested.filter(HANDSHAKE::contains).orElse(HANDSHAKE.getFirst());
  }

  /** Checks the headers and the metadata of a request without a session. */
  static void checkModern(Exchange exchange, RpcMessage message) throws RpcError {
    String header = exchange.header(HEADER).orElse("");
    Map<String, Object> meta = message.meta();
    if (message.id().isEmpty()) {
      if (!header.equals(MODERN)) {
        throw unsupported(header);
      }
      return;
    }
    if (!meta.containsKey(VERSION)) {
      throw header.equals(MODERN)
          ? new RpcError(RpcError.INVALID_PARAMS, "params._meta lacks " + VERSION)
          : unsupported(header);
    }
    if (!meta.containsKey(CAPABILITIES)) {
      throw new RpcError(RpcError.INVALID_PARAMS, "params._meta lacks " + CAPABILITIES);
    }
    if (!header.equals(meta.get(VERSION))) {
      throw mismatch(HEADER, "the version in params._meta");
    }
    if (!exchange.header("Mcp-Method").equals(message.method())) {
      throw mismatch("Mcp-Method", "the method of the body");
    }
    Optional<String> name =
        switch (message.method().orElse("")) {
          case "tools/call", "prompts/get" -> message.text("name");
          case "resources/read" -> message.text("uri");
          default -> Optional.empty();
        };
    if (name.isPresent()
        && !exchange.header("Mcp-Name").flatMap(ProtocolVersion::decode).equals(name)) {
      throw mismatch("Mcp-Name", "the name of the body");
    }
    if (!header.equals(MODERN)) {
      throw unsupported(header);
    }
  }

  private static RpcError mismatch(String header, String what) {
    return new RpcError(
        RpcError.HEADER_MISMATCH, "the header " + header + " does not match " + what);
  }

  private static RpcError unsupported(String requested) {
    return new RpcError(
        RpcError.UNSUPPORTED_VERSION,
        "the protocol version is not supported",
        Optional.of(Map.of("supported", List.of(MODERN), "requested", requested)));
  }

  /** Decodes the value of a header, which is in Base64 if it is not ASCII. */
  private static Optional<String> decode(String value) {
    if (!value.startsWith(BASE64) || !value.endsWith("?=")) {
      return Optional.of(value);
    }
    try {
      byte[] bytes =
          Base64.getDecoder().decode(value.substring(BASE64.length(), value.length() - 2));
      return Optional.of(new String(bytes, StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // matches nothing
    }
  }
}
