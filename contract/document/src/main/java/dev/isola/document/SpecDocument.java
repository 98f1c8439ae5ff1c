package dev.isola.document;

import dev.isola.document.field.DocumentReader;
import dev.isola.document.field.Form;
import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.RequestValidation;
import dev.isola.document.request.TemplateReference;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Violation;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The document form of a create request and its spec: a tree of maps, lists, strings, numbers and
 * booleans, as any JSON library returns it. API requests, files and stored records use this form.
 * The provider, the template, the idle timeout and the idempotency key of a request are not part of
 * the document.
 *
 * <p>{@code apiVersion} is {@code v1} or {@code v2}; the default is the current version, {@code
 * v2}. An older document is migrated before it is read, so providers never see the difference.
 * {@link RequestFields} is the table of the fields of version 2, which are all optional.
 *
 * <p>{@code network.enabled} may be given together with {@code mode} or instead of it: {@code
 * false} means mode {@code none}, and {@code true} without a mode means {@code bridge}. The two
 * must not contradict each other.
 */
public final class SpecDocument {
  /** The fields of {@code resources}. */
  private static final Map<LimitKind, String> LIMIT_FIELDS =
      Map.of(
          LimitKind.CPU, "cpu",
          LimitKind.MEMORY, "memory",
          LimitKind.DISK, "disk",
          LimitKind.FILE_DESCRIPTORS, "fileDescriptors",
          LimitKind.PROCESSES, "processes",
          LimitKind.THREADS, "threads",
          LimitKind.BANDWIDTH, "networkBandwidth",
          LimitKind.TIMEOUT, "timeoutSeconds");

  private SpecDocument() {}

  /**
   * Reads a document of any supported version. Missing and null fields get their defaults.
   *
   * @param freshId supplies an id if the document has none
   * @throws dev.isola.spi.error.InvalidRequest with {@code INVALID_SPEC}, naming every field that
   *     is unknown, of the wrong type or invalid, by its name in the document
   */
  public static CreateRequest fromMap(Map<String, ?> document, Supplier<SandboxId> freshId) {
    List<Violation> violations = new ArrayList<>();
    boolean old = version(document) == ApiVersion.V1;
    if (old) {
      SpecDocumentV1.reportUnknownFields(document, violations);
    }
    CreateRequest request =
        read(old ? SpecDocumentV1.migrate(document) : document, freshId, violations);
    SpecValidation.throwIfInvalid(
        old
            ? violations.stream()
                .map(one -> new Violation(SpecDocumentV1.v1NameOf(one.field()), one.problem()))
                .toList()
            : violations);
    return request;
  }

  private static CreateRequest read(
      Map<String, ?> document, Supplier<SandboxId> freshId, List<Violation> violations) {
    Map<String, @Nullable Object> withId = new LinkedHashMap<>(document);
    if (withId.get("id") == null && withId.get("runtimeId") == null) {
      withId.put("id", freshId.get().value());
    }
    CreateRequest request =
        RequestFields.REQUEST
            .read(DocumentReader.of(withId, violations))
            .orElseThrow(() -> new IllegalStateException("no field of a request is required"));
    violations.addAll(RequestValidation.violations(request));
    return request;
  }

  /**
   * Writes {@code request} as a document of the current version. Defaults are written out, so that
   * a stored document keeps its meaning when defaults change. {@link #fromMap} reads it back as an
   * equal request, except for the properties that are not part of the document and for {@code
   * secretEnv}, which is omitted because documents are stored and shown.
   */
  public static Map<String, Object> toMap(CreateRequest request) {
    return RequestFields.REQUEST.write(request, Form.STORED);
  }

  /**
   * Writes {@code request} for a response.
   *
   * @param confidential what the response has in place of a value that may contain a secret
   */
  public static Map<String, Object> forResponse(
      CreateRequest request, UnaryOperator<Object> confidential) {
    return RequestFields.REQUEST.write(request, Form.response(confidential));
  }

  /**
   * Returns the parts of a spec that another machine needs to create the sandbox, with the values
   * of its secret variables. Not to be stored or logged. Seed files and the init command are not
   * included, because the provider runs them itself.
   */
  public static Map<String, Object> forBackend(SandboxSpec spec) {
    SandboxSpec resolved = spec.toBuilder().cwd(spec.workingFolder()).buildUnchecked();
    return RequestFields.REQUEST.write(CreateRequest.auto(resolved), Form.BACKEND);
  }

  /** Returns whether a request has a value that is not stored with it. */
  public static boolean hasSecrets(CreateRequest request) {
    return hasValue(RequestFields.REQUEST.write(request, Form.SECRETS));
  }

  private static boolean hasValue(Object written) {
    return !(written instanceof Map<?, ?> object)
        || object.values().stream().anyMatch(SpecDocument::hasValue);
  }

  /** Returns the template reference of a request with this document. */
  public static TemplateReference template(String name, Map<String, ?> document) {
    Set<LimitKind> set = requestedLimits(document);
    return new TemplateReference(name, set.contains(LimitKind.CPU), set.contains(LimitKind.MEMORY));
  }

  /** Returns the limits that a request with this document sets itself, without defaults. */
  public static Set<LimitKind> requestedLimits(Map<String, ?> document) {
    Map<?, ?> current =
        version(document) == ApiVersion.V1 ? SpecDocumentV1.migrate(document) : document;
    Map<?, ?> resources = current.get("resources") instanceof Map<?, ?> given ? given : Map.of();
    Set<LimitKind> requested = EnumSet.noneOf(LimitKind.class);
    LIMIT_FIELDS.forEach(
        (kind, field) -> {
          if (resources.get(field) != null) {
            requested.add(kind);
          }
        });
    return requested;
  }

  private static ApiVersion version(Map<String, ?> document) {
    Object version = document.get("apiVersion");
    if (version == null) {
      return ApiVersion.CURRENT;
    }
    Optional<ApiVersion> known =
        version instanceof String text ? ApiVersion.parse(text) : Optional.empty();
    if (known.isEmpty()) {
      // Nothing else can be validated: the fields of an unknown version are unknown.
      String supported =
          Stream.of(ApiVersion.values())
              .map(ApiVersion::wireName)
              .collect(Collectors.joining(" and "));
      SpecValidation.throwIfInvalid(
          List.of(
              new Violation(
                  "apiVersion",
                  "is not supported: "
                      + DocumentReader.abbreviate(version)
                      + "; "
                      + supported
                      + " are")));
    }
    return known.orElse(ApiVersion.CURRENT);
  }
}
