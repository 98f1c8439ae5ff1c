package dev.isola.document.request;

import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A request to create a sandbox. The provider receives only the spec; the rest is for the engine.
 *
 * @param spec the spec, without a deadline: the engine derives it from the TTL
 * @param tags labels chosen by the client, used as filters
 * @param idempotencyKey identifies repeated requests
 * @param template supplies the image, environment and other values that the spec does not set. It
 *     is not part of the document: the stored spec already contains the template's values
 * @param mcpServer the server that a sandbox of {@link Workload#MCP_SERVER} hosts
 */
public record CreateRequest(
    SandboxSpec spec,
    Lifecycle lifecycle,
    Placement placement,
    Map<String, String> tags,
    Optional<String> idempotencyKey,
    Optional<TemplateReference> template,
    Optional<McpServer> mcpServer) {
  public CreateRequest {
    tags = Collections.unmodifiableMap(new LinkedHashMap<>(tags));
  }

  /** Returns a request that lets the engine choose the provider. */
  public static CreateRequest auto(SandboxSpec spec) {
    return new CreateRequest(
        spec,
        Lifecycle.DEFAULT,
        Placement.DEFAULT,
        Map.of(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /**
   * Returns a request for one provider.
   *
   * @param provider the name; empty or {@code auto} lets the engine choose
   */
  public static CreateRequest of(SandboxSpec spec, String provider) {
    return auto(spec).withProvider(provider);
  }

  /** Returns this request for another provider. */
  public CreateRequest withProvider(String provider) {
    return with(placement.withProvider(ProviderPreference.of(provider)));
  }

  public CreateRequest with(SandboxSpec other) {
    return new CreateRequest(
        other, lifecycle, placement, tags, idempotencyKey, template, mcpServer);
  }

  public CreateRequest with(Lifecycle other) {
    return new CreateRequest(spec, other, placement, tags, idempotencyKey, template, mcpServer);
  }

  public CreateRequest with(Placement other) {
    return new CreateRequest(spec, lifecycle, other, tags, idempotencyKey, template, mcpServer);
  }

  public CreateRequest withTags(Map<String, String> all) {
    return new CreateRequest(spec, lifecycle, placement, all, idempotencyKey, template, mcpServer);
  }

  public CreateRequest withIdempotencyKey(String key) {
    return new CreateRequest(
        spec, lifecycle, placement, tags, Optional.of(key), template, mcpServer);
  }

  /** Returns this request for a sandbox that hosts a server. */
  public CreateRequest withMcpServer(McpServer server) {
    return new CreateRequest(
        spec,
        lifecycle,
        placement.withWorkload(Workload.MCP_SERVER),
        tags,
        idempotencyKey,
        template,
        Optional.of(server));
  }

  /** Returns this request for a sandbox created from a template. */
  public CreateRequest withTemplate(TemplateReference reference) {
    return new CreateRequest(
        spec, lifecycle, placement, tags, idempotencyKey, Optional.of(reference), mcpServer);
  }

  /** Returns this request with a spec that includes the values of the template. */
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
                    one.name(), one.explicitCpu(), one.explicitMemory(), Optional.of(spec))),
        mcpServer);
  }

  /** Returns this request with the spec as sent by the client. */
  public CreateRequest withRequestedSpec() {
    return template.flatMap(TemplateReference::requestedSpec).map(this::with).orElse(this);
  }

  public CreateRequest withTtl(Duration fromCreate) {
    return with(lifecycle.withTtl(fromCreate));
  }

  public CreateRequest withIdleTimeout(Duration unused) {
    return with(lifecycle.withIdleTimeout(unused));
  }

  /** Returns this request with additional requirements. */
  public CreateRequest requiring(Requirements more) {
    return with(placement.withRequirements(placement.requirements().and(more)));
  }

  /** Returns this request restricted to providers of one region. */
  public CreateRequest inRegion(String label) {
    return with(placement.inRegion(label));
  }

  public CreateRequest strict() {
    return with(placement.strict());
  }
}
