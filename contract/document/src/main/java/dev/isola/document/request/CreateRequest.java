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
    return new Builder(spec).build();
  }

  /**
   * Returns a request for one provider.
   *
   * @param provider the name; empty or {@code auto} lets the engine choose
   */
  public static CreateRequest of(SandboxSpec spec, String provider) {
    return auto(spec).withProvider(provider);
  }

  public static Builder builder(SandboxSpec spec) {
    return new Builder(spec);
  }

  /** Returns a builder initialized with this request. */
  public Builder toBuilder() {
    Builder builder = new Builder(spec);
    builder.lifecycle = lifecycle;
    builder.placement = placement;
    builder.tags = tags;
    builder.idempotencyKey = idempotencyKey;
    builder.template = template;
    builder.mcpServer = mcpServer;
    return builder;
  }

  /** Returns this request for another provider. */
  public CreateRequest withProvider(String provider) {
    return with(placement.withProvider(ProviderPreference.of(provider)));
  }

  public CreateRequest with(SandboxSpec other) {
    return toBuilder().spec(other).build();
  }

  public CreateRequest with(Lifecycle other) {
    return toBuilder().lifecycle(other).build();
  }

  public CreateRequest with(Placement other) {
    return toBuilder().placement(other).build();
  }

  public CreateRequest withTags(Map<String, String> all) {
    return toBuilder().tags(all).build();
  }

  public CreateRequest withIdempotencyKey(String key) {
    Builder builder = toBuilder();
    builder.idempotencyKey = Optional.of(key);
    return builder.build();
  }

  /** Returns this request for a sandbox that hosts a server. */
  public CreateRequest withMcpServer(McpServer server) {
    return toBuilder()
        .placement(placement.withWorkload(Workload.MCP_SERVER))
        .mcpServer(server)
        .build();
  }

  /** Returns this request for a sandbox created from a template. */
  public CreateRequest withTemplate(TemplateReference reference) {
    return toBuilder().template(reference).build();
  }

  /** Returns this request with a spec that includes the values of the template. */
  public CreateRequest withResolvedSpec(SandboxSpec complete) {
    Builder builder = toBuilder().spec(complete);
    template
        .map(
            one ->
                new TemplateReference(
                    one.name(), one.explicitCpu(), one.explicitMemory(), Optional.of(spec)))
        .ifPresent(builder::template);
    return builder.build();
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

  /** Builds a request. Every component except the spec has a default. */
  public static final class Builder {
    private SandboxSpec spec;
    private Lifecycle lifecycle = Lifecycle.DEFAULT;
    private Placement placement = Placement.DEFAULT;
    private Map<String, String> tags = Map.of();
    private Optional<String> idempotencyKey = Optional.empty();
    private Optional<TemplateReference> template = Optional.empty();
    private Optional<McpServer> mcpServer = Optional.empty();

    private Builder(SandboxSpec spec) {
      this.spec = spec;
    }

    public Builder spec(SandboxSpec other) {
      spec = other;
      return this;
    }

    public Builder lifecycle(Lifecycle other) {
      lifecycle = other;
      return this;
    }

    public Builder placement(Placement other) {
      placement = other;
      return this;
    }

    public Builder tags(Map<String, String> all) {
      tags = all;
      return this;
    }

    public Builder template(TemplateReference reference) {
      template = Optional.of(reference);
      return this;
    }

    public Builder mcpServer(McpServer server) {
      mcpServer = Optional.of(server);
      return this;
    }

    public CreateRequest build() {
      return new CreateRequest(
          spec, lifecycle, placement, tags, idempotencyKey, template, mcpServer);
    }
  }
}
