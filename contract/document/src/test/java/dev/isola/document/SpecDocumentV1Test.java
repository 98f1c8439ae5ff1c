package dev.isola.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.document.request.CreateRequest;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** P11: a document of version 1 is migrated, then read. */
class SpecDocumentV1Test {
  private static final SandboxId FRESH = new SandboxId("fresh");
  private static final Map<String, Object> FULL =
      Map.of(
          "apiVersion", "v1",
          "workspacePath", "/srv/p",
          "workspaceMount", "/work",
          "image", "python",
          "resourceLimits",
              Map.of("cpuCount", 2, "memoryMB", 2048, "diskMB", 4096, "timeoutSeconds", 30),
          "networkMode", "none",
          "env", Map.of("A", "1"),
          "user", "agent");

  @Test
  void everyFieldIsMigrated() {
    assertThat(read(FULL))
        .isEqualTo(
            SandboxSpec.builder(FRESH)
                .workspacePath(Path.of("/srv/p"))
                .workspaceMount("/work")
                .image("python")
                .limits(
                    ResourceLimits.DEFAULT
                        .withCpu(2)
                        .withMemoryMb(2048)
                        .withDiskMb(4096)
                        .withTimeout(Duration.ofSeconds(30)))
                .network(Network.of(NetworkMode.NONE))
                .env("A", "1")
                .user("agent")
                .build());
  }

  @Test
  void migratedDocumentEqualsItsVersion2Form() {
    Map<String, ?> migrated = SpecDocumentV1.migrate(FULL);

    assertThat(migrated.get("apiVersion")).isEqualTo("v2");
    assertThat(read(migrated)).isEqualTo(read(FULL));
  }

  @Test
  void migrationDoesNotModifyItsInput() {
    // FULL is immutable: a modification would throw.
    assertThat(SpecDocumentV1.migrate(FULL)).isEqualTo(SpecDocumentV1.migrate(FULL));
  }

  @Test
  void missingFieldsGetDefaults() {
    assertThat(read(Map.of("apiVersion", "v1"))).isEqualTo(SandboxSpec.builder(FRESH).build());
    assertThat(read(Map.of("apiVersion", "v1", "resourceLimits", Map.of("cpuCount", 0.5))).limits())
        .isEqualTo(ResourceLimits.DEFAULT.withCpu(0.5));
  }

  @Test
  void allViolationsAreReportedWithVersion1Names() {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(
            () ->
                read(
                    Map.of(
                        "apiVersion",
                        "v1",
                        "networkMode",
                        "wifi",
                        "env",
                        List.of(),
                        "ttlSeconds",
                        5,
                        "imge",
                        "x",
                        "resourceLimits",
                        Map.of(
                            "cpuCount", "two", "memoryMB", 1, "diskMb", 5, "timeoutSeconds", 0))))
        .satisfies(
            e -> {
              assertThat(e.context())
                  .containsOnlyKeys(
                      "networkMode",
                      "env",
                      "ttlSeconds",
                      "imge",
                      "resourceLimits.cpuCount",
                      "resourceLimits.memoryMB",
                      "resourceLimits.diskMb",
                      "resourceLimits.timeoutSeconds");
              assertThat(e.context())
                  .containsEntry("ttlSeconds", "is not a field here; it belongs to apiVersion v2")
                  .containsEntry("imge", "is not a field, did you mean 'image'?")
                  .containsEntry("resourceLimits.diskMb", "is not a field, did you mean 'diskMB'?");
            });
  }

  @Test
  void wrongTypeIsReportedOnce() {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> read(Map.of("apiVersion", "v1", "resourceLimits", "many")))
        .withMessage(
            "the spec is invalid: resourceLimits must be an object, not a string; correct this field");
  }

  @Test
  void fieldsOfVersion2AreRejectedWithAHint() {
    // Every field that toMap writes and version 1 does not have must be in the table of hints.
    SandboxSpec full =
        SandboxSpec.builder(FRESH).cwd("/x").init(Command.shell("x")).linger(Duration.ZERO).build();
    CreateRequest request = CreateRequest.auto(full).withTtl(Duration.ofSeconds(1));
    for (String name : SpecDocument.toMap(request).keySet()) {
      assertThat(FULL.containsKey(name) || SpecDocumentV1.ONLY_IN_V2.containsKey(name))
          .as(name)
          .isTrue();
    }
  }

  @Test
  void versionsAreParsedByName() {
    assertThat(ApiVersion.parse("v1")).contains(ApiVersion.V1);
    assertThat(ApiVersion.parse("v2")).contains(ApiVersion.CURRENT);
    assertThat(ApiVersion.parse("V2")).isEmpty();
    assertThat(ApiVersion.parse("")).isEmpty();
  }

  private static SandboxSpec read(Map<String, ?> document) {
    return SpecDocument.fromMap(document, () -> FRESH).spec();
  }
}
