package dev.isola.engine.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.Startup;
import dev.isola.engine.api.TemplateView;
import dev.isola.engine.lifecycle.SandboxRecorder.IdempotencyKey;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Completion of requests that name a template. */
class TemplateResolverTest {
  private static final TemplateView TOOLS =
      new TemplateView(
          "t1",
          List.of("tools"),
          Optional.of("tools-image"),
          Map.of("LANG", "C", "MODE", "fast"),
          "agent",
          "/app",
          Optional.of("serve"),
          Optional.of("probe"),
          Optional.of(4L),
          Optional.of(4096L),
          "b1",
          1,
          Instant.EPOCH,
          Instant.EPOCH);

  private final TemplateResolver resolver =
      new TemplateResolver(
          name -> {
            assertThat(name).isEqualTo("tools");
            return TOOLS;
          });

  private SandboxRequest request(Map<String, Object> document) {
    CreateRequest request = SpecDocument.fromMap(document, () -> new SandboxId("box"));
    return SandboxRequest.of(request.withTemplate(SpecDocument.template("tools", document)));
  }

  private SandboxSpec resolved(Map<String, Object> document) {
    return resolver.resolve(request(document)).request().spec();
  }

  @Test
  void unsetFieldsComeFromTheTemplate() {
    SandboxSpec spec = resolved(Map.of());
    assertThat(spec.image()).contains("tools-image");
    assertThat(spec.env()).isEqualTo(TOOLS.env());
    assertThat(spec.user()).contains("agent");
    assertThat(spec.cwd()).contains("/app");
    assertThat(spec.limits()).isEqualTo(ResourceLimits.DEFAULT.withCpu(4).withMemoryMb(4096));
  }

  @Test
  void requestFieldsTakePrecedenceEvenIfEqualToDefaults() {
    SandboxSpec spec =
        resolved(
            Map.of(
                "env",
                Map.of("MODE", "slow"),
                "user",
                "root",
                "cwd",
                "/",
                "resources",
                Map.of("cpu", ResourceLimits.DEFAULT.cpu())));
    assertThat(spec.env()).containsEntry("MODE", "slow").containsEntry("LANG", "C");
    assertThat(spec.user()).contains("root");
    assertThat(spec.cwd()).contains("/");
    assertThat(spec.limits().cpu()).isEqualTo(ResourceLimits.DEFAULT.cpu());
    assertThat(spec.limits().memoryMb()).isEqualTo(4096);
    assertThat(
            resolved(Map.of("apiVersion", "v1", "resourceLimits", Map.of("memoryMB", 512)))
                .limits()
                .memoryMb())
        .isEqualTo(512);
  }

  @Test
  void secretVariableReplacesOneOfTheTemplate() {
    SandboxSpec spec = resolved(Map.of("secretEnv", Map.of("MODE", "hidden")));
    assertThat(spec.env()).containsOnlyKeys("LANG");
    assertThat(spec.secretEnv()).containsEntry("MODE", Secret.of("hidden"));
  }

  @Test
  void startAndReadyCommandsUseTheUserAndWorkingDirectoryOfTheSandbox() {
    Startup startup = resolver.resolve(request(Map.of("user", "root"))).startup();
    assertThat(startup.start().orElseThrow().args()).endsWith("serve");
    assertThat(startup.start().orElseThrow().user()).contains("root");
    assertThat(startup.start().orElseThrow().cwd()).contains("/app");
    assertThat(startup.ready().orElseThrow().args()).endsWith("probe");
  }

  @Test
  void resolvedRequestIsNotResolvedAgainAndKeepsItsIdempotencyKey() {
    SandboxRequest sandboxRequest = request(Map.of()).withIdempotencyKey("key");
    SandboxRequest resolved = resolver.resolve(sandboxRequest);
    TemplateResolver none =
        new TemplateResolver(
            name -> {
              throw new AssertionError("is looked up twice");
            });
    assertThat(none.resolve(resolved)).isEqualTo(resolved);
    assertThat(IdempotencyKey.of(resolved)).isEqualTo(IdempotencyKey.of(sandboxRequest));
    SandboxRequest other =
        SandboxRequest.of(
                sandboxRequest.request().withTemplate(SpecDocument.template("other", Map.of())))
            .withIdempotencyKey("key");
    assertThat(IdempotencyKey.of(resolved)).isNotEqualTo(IdempotencyKey.of(other));
  }

  @Test
  void imageAndTemplateCannotBeCombined() {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> resolved(Map.of("image", "debian:12")))
        .withMessageContaining("template cannot be combined with image");
  }
}
