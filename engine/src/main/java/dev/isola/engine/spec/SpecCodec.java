package dev.isola.engine.spec;

import dev.isola.codec.digest.Sha256;
import dev.isola.codec.json.Json;
import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Network;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Encodes and decodes requests as the ledger stores them: JSON documents. */
public final class SpecCodec {

  /**
   * The fields that differ between interchangeable sandboxes. Requirements only affect the choice
   * of the provider, which is compared separately.
   */
  private static final List<String> PER_SANDBOX_FIELDS =
      List.of("id", "tags", "ttlSeconds", "require");

  private static final String SECRET = "secretEnv";

  private static final DecodedSpecs DECODED = new DecodedSpecs(2 << 20);

  private SpecCodec() {}

  /**
   * Returns the stored form of a request. It contains only the names of secret variables; the
   * ledger stores their values apart, encrypted.
   */
  public static String encode(CreateRequest request) {
    Map<String, Object> document = new TreeMap<>(SpecDocument.toMap(request));
    Map<String, Secret> secrets = request.spec().secretEnv();
    if (!secrets.isEmpty()) {
      document.put(SECRET, List.copyOf(secrets.keySet()));
    }
    return Json.canonical(document);
  }

  /**
   * Decodes the request of a record, without the values of its secret variables.
   *
   * @throws dev.isola.spi.error.Conflict if it is damaged, or this version rejects what an earlier
   *     one stored
   */
  public static CreateRequest decode(String text, SandboxId id) {
    return decoded(text, id).request();
  }

  /** Returns the names of the secret variables of a stored spec, which {@link #decode} accepts. */
  public static List<String> secretNames(String text, SandboxId id) {
    return decoded(text, id).secretNames();
  }

  private static DecodedSpecs.Spec decoded(String text, SandboxId id) {
    return DECODED
        .find(text)
        .filter(spec -> spec.request().spec().id().equals(id))
        .orElseGet(
            () -> {
              DecodedSpecs.Spec spec = read(text, id);
              DECODED.add(text, spec);
              return spec;
            });
  }

  private static DecodedSpecs.Spec read(String text, SandboxId id) {
    try {
      Map<String, Object> document = Json.parseObject(text);
      Object names = document.remove(SECRET);
      return new DecodedSpecs.Spec(
          SpecDocument.fromMap(document, () -> id),
          names instanceof List<?> list ? list.stream().map(String::valueOf).toList() : List.of());
    } catch (RuntimeException e) { // malformed JSON, record constructors, rejected documents
      String why = e instanceof SandboxException known ? known.fault().problem() : e.toString();
      throw Fault.of(
              ErrorCode.ILLEGAL_STATE,
              "the stored spec of sandbox " + id + " cannot be read: " + why,
              "destroy the sandbox, or use the version of Isola that created it")
          .sandbox(id)
          .exception(e);
    }
  }

  /** Returns the stored form of a request with another network. */
  public static String withNetwork(String text, SandboxId id, Network network) {
    CreateRequest request = decode(text, id);
    CreateRequest changed = request.with(request.spec().toBuilder().network(network).build());
    Map<String, Object> document = new TreeMap<>(Json.parseObject(text));
    document.put("network", SpecDocument.toMap(changed).get("network"));
    return Json.canonical(document);
  }

  /** Returns a hash that is equal for interchangeable sandboxes. */
  public static String hash(CreateRequest request) {
    return hash(request, Optional.empty());
  }

  /**
   * Returns a hash that is equal for interchangeable sandboxes.
   *
   * @param imageDigest the digest that the image name in the spec currently resolves to
   */
  public static String hash(CreateRequest request, Optional<String> imageDigest) {
    Map<String, Object> document = new TreeMap<>(SpecDocument.toMap(request));
    PER_SANDBOX_FIELDS.forEach(document::remove);
    imageDigest.ifPresent(digest -> document.put("imageDigest", digest));
    return Sha256.hex(Json.canonical(document));
  }

  /**
   * Returns the hash of everything that the client requested except the id. It covers the request
   * as sent, because its template may change before the request is repeated.
   */
  public static String requestHash(CreateRequest request, Optional<String> name) {
    Map<String, Object> document = new TreeMap<>(SpecDocument.toMap(request.withRequestedSpec()));
    request.template().ifPresent(template -> document.put("template", template.name()));
    document.remove("id");
    name.ifPresent(text -> document.put("name", text));
    document.put("requestedProvider", request.placement().provider().toString());
    request.placement().region().ifPresent(region -> document.put("region", region));
    Map<String, Secret> secrets = request.spec().secretEnv();
    if (!secrets.isEmpty()) {
      // Names only, so that the hash reveals no value.
      document.put(SECRET, List.copyOf(secrets.keySet()));
    }
    return Sha256.hex(Json.canonical(document));
  }
}
