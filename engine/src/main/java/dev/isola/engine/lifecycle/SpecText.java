package dev.isola.engine.lifecycle;

import dev.isola.document.SpecDocument;
import dev.isola.engine.selection.Request;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** A spec as the ledger keeps it. */
public final class SpecText {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS).build();
  private static final TypeReference<Map<String, Object>> DOCUMENT = new TypeReference<>() {};

  /**
   * What one sandbox has and another one of the same kind has not. What is required decides who
   * makes it, and that is compared beside the hash.
   */
  private static final List<String> OWN = List.of("id", "tags", "ttlSeconds", "require");

  private static final String SECRET = "secretEnv";

  private SpecText() {}

  /** Returns the text of a spec. Of secret variables it has the names; {@link Secrets} has them. */
  public static String of(SandboxSpec spec) {
    Map<String, Object> document = new TreeMap<>(SpecDocument.toMap(spec));
    if (!spec.secretEnv().isEmpty()) {
      document.put(SECRET, List.copyOf(spec.secretEnv().keySet()));
    }
    return JSON.writeValueAsString(document);
  }

  /**
   * Reads the spec of a record, without the values of its secret variables.
   *
   * @throws dev.isola.spi.error.Conflict when it cannot be read: it is damaged, or this version
   *     refuses what an earlier one has stored
   */
  public static SandboxSpec read(String text, SandboxId id) {
    try {
      Map<String, Object> document = JSON.readValue(text, DOCUMENT);
      document.remove(SECRET);
      return SpecDocument.fromMap(document, () -> id);
    } catch (RuntimeException e) { // Jackson's, those of records, and refusals of the document
      String why = e instanceof SandboxException known ? known.fault().what() : e.toString();
      throw Fault.of(
              ErrorCode.ILLEGAL_STATE,
              "the stored spec of sandbox " + id + " cannot be read: " + why,
              "destroy the sandbox, or use the version of Isola that made it")
          .sandbox(id)
          .exception(e);
    }
  }

  /** Returns the names of the secret variables of a stored spec. */
  public static List<String> secretNames(String text) {
    return JSON.readValue(text, DOCUMENT).get(SECRET) instanceof List<?> names
        ? names.stream().map(String::valueOf).toList()
        : List.of();
  }

  /** Returns the same spec for another sandbox. */
  public static SandboxSpec withId(SandboxSpec spec, SandboxId id) {
    Map<String, Object> document = new TreeMap<>(SpecDocument.toMap(spec));
    document.remove("id");
    return SpecDocument.fromMap(document, () -> id).toBuilder().secretEnv(spec.secretEnv()).build();
  }

  /** Returns the hash of what a spec says that makes two sandboxes interchangeable. */
  public static String hash(SandboxSpec spec) {
    return hash(spec, Optional.empty());
  }

  /**
   * Returns the hash of what makes two sandboxes interchangeable.
   *
   * @param imageDigest of the image that the name in the spec stands for
   */
  public static String hash(SandboxSpec spec, Optional<String> imageDigest) {
    Map<String, Object> document = new TreeMap<>(SpecDocument.toMap(spec));
    OWN.forEach(document::remove);
    imageDigest.ifPresent(digest -> document.put("imageDigest", digest));
    return sha256(JSON.writeValueAsString(document));
  }

  /** Returns the hash of all that a caller asked for, but for the id. */
  static String requestHash(Request request) {
    SandboxSpec asked = request.spec().toBuilder().require(request.require()).build();
    Map<String, Object> document = new TreeMap<>(SpecDocument.toMap(asked));
    document.remove("id");
    document.put("wish", request.wish().toString());
    if (!asked.secretEnv().isEmpty()) {
      document.put(SECRET, List.copyOf(asked.secretEnv().keySet())); // no hash tells a value
    }
    return sha256(JSON.writeValueAsString(document));
  }

  private static String sha256(String text) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
