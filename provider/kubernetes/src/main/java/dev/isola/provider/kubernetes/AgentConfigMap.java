package dev.isola.provider.kubernetes;

import dev.isola.codec.json.Json;
import dev.isola.link.AgentBinary;
import dev.isola.spi.Bytes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;

/**
 * The config map that brings the agent into pods of any image. It is immutable and named after its
 * content, so that versions coexist.
 *
 * @param architecture as Kubernetes names it
 */
record AgentConfigMap(String name, String architecture, Bytes program) {
  static final String PROGRAM = "agent";

  /** The largest content of a config map that the API server accepts. */
  static final int MAX_BYTES = 1 << 20;

  private static final Map<String, String> MACHINES = Map.of("amd64", "x86_64", "arm64", "aarch64");

  /**
   * Returns the map for nodes of an architecture.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if there is no agent for it
   */
  static AgentConfigMap of(String architecture) {
    byte[] program = AgentBinary.content(MACHINES.getOrDefault(architecture, architecture));
    String hash = HexFormat.of().formatHex(sha256(program)).substring(0, 16);
    return new AgentConfigMap("isola-agent-" + hash, architecture, Bytes.of(program));
  }

  /** Returns the architecture of this machine as Kubernetes names it. */
  static String ownArchitecture() {
    String name = System.getProperty("os.arch", "");
    return name.equals("aarch64") ? "arm64" : name;
  }

  Map<String, Object> body() {
    return Json.object(
        "apiVersion",
        "v1",
        "kind",
        "ConfigMap",
        "metadata",
        Json.object("name", name, "labels", Map.of("app.kubernetes.io/managed-by", "isola")),
        "immutable",
        true,
        "binaryData",
        Map.of(PROGRAM, Base64.getEncoder().encodeToString(program.toArray())));
  }

  private static byte[] sha256(byte[] content) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(content);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
