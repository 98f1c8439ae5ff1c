package dev.isola.document.request;

import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A request to create a sandbox. The provider is given the spec; the rest is for the engine.
 *
 * @param spec without a deadline: the engine makes it from the ttl
 * @param tags the client's own, for filters
 * @param idempotencyKey by which a repeated request is known
 * @param template that the engine takes the image, the variables and more from, where the spec does
 *     not say otherwise; no document has it: what is stored is the spec that came of it
 */
public record CreateRequest(
    SandboxSpec spec,
    Lifecycle lifecycle,
    Placement placement,
    Map<String, String> tags,
    Optional<String> idempotencyKey,
    Optional<TemplateReference> template) {
  public CreateRequest {
    tags = Collections.unmodifiableMap(new LinkedHashMap<>(tags));
  }

  /** A request that leaves the choice of the provider to the engine. */
  public static CreateRequest auto(SandboxSpec spec) {
    return new CreateRequest(
        spec, Lifecycle.DEFAULT, Placement.DEFAULT, Map.of(), Optional.empty(), Optional.empty());
  }

  /**
   * A request for one provider.
   *
   * @param provider its name; empty text or {@code auto} leaves the choice to the engine
   */
  public static CreateRequest of(SandboxSpec spec, String provider) {
    return auto(spec).withProvider(provider);
  }

  /** Returns the same request for another provider. */
  public CreateRequest withProvider(String provider) {
    return with(placement.withProvider(ProviderPreference.of(provider)));
  }

  public CreateRequest with(SandboxSpec other) {
    return new CreateRequest(other, lifecycle, placement, tags, idempotencyKey, template);
  }

  public CreateRequest with(Lifecycle other) {
    return new CreateRequest(spec, other, placement, tags, idempotencyKey, template);
  }

  public CreateRequest with(Placement other) {
    return new CreateRequest(spec, lifecycle, other, tags, idempotencyKey, template);
  }

  public CreateRequest withTags(Map<String, String> all) {
    return new CreateRequest(spec, lifecycle, placement, all, idempotencyKey, template);
  }

  public CreateRequest withIdempotencyKey(String key) {
    return new CreateRequest(spec, lifecycle, placement, tags, Optional.of(key), template);
  }

  /** Returns the same request for a sandbox made from a template. */
  public CreateRequest withTemplate(TemplateReference reference) {
    return new CreateRequest(
        spec, lifecycle, placement, tags, idempotencyKey, Optional.of(reference));
  }

  /** Returns the same request with the spec that came of its template. */
  public CreateRequest withResolvedSpec(SandboxSpec complete) {
    return new CreateRequest(
        complete,
        lifecycle,
        placement,
        tags,
        idempotencyKey,
        template.map(
            one ->
                new TemplateReference(
                    one.name(), one.explicitCpu(), one.explicitMemory(), Optional.of(spec))));
  }

  /** Returns the same request with the spec as the client sent it. */
  public CreateRequest withRequestedSpec() {
    return template.flatMap(TemplateReference::requestedSpec).map(this::with).orElse(this);
  }

  public CreateRequest withTtl(Duration fromCreate) {
    return with(lifecycle.withTtl(fromCreate));
  }

  public CreateRequest withIdleTimeout(Duration unused) {
    return with(lifecycle.withIdleTimeout(unused));
  }

  /** Returns the same request with more requirements. */
  public CreateRequest requiring(Requirements more) {
    return with(placement.withRequirements(placement.requirements().and(more)));
  }

  /** Returns the same request for providers of one region only. */
  public CreateRequest inRegion(String label) {
    return with(placement.inRegion(label));
  }

  public CreateRequest strict() {
    return with(placement.strict());
  }
}
