package dev.isola.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.RequestValidation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Violation;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** S1: the bounds of the fields of a request, and the forms in which they are written. */
class RequestFieldsTest {
  private static final SandboxId ID = new SandboxId("a");
  private static final long TEN_YEARS = Duration.ofDays(3650).toSeconds();

  @Test
  void acceptsValuesWithinBounds() {
    valid(Map.of());
    valid(Map.of("ttlSeconds", 1e-9));
    valid(Map.of("ttlSeconds", TEN_YEARS));
    valid(Map.of("tags", tags(64)));
    valid(Map.of("tags", Map.of("x".repeat(128), "y".repeat(1024))));
  }

  @Test
  void rejectsInvalidDurations() {
    String problem = "ttlSeconds must be more than 0 and at most 3650 days";
    invalid(Map.of("ttlSeconds", 0), problem);
    invalid(Map.of("ttlSeconds", -1), problem);
    invalid(Map.of("ttlSeconds", TEN_YEARS + 1), problem);
  }

  @Test
  void rejectsTooManyOrTooLongTags() {
    invalid(Map.of("tags", tags(65)), "tags has more than 64 entries");
    invalid(Map.of("tags", Map.of("", "x")), "tags is blank");
    invalid(Map.of("tags", Map.of("x".repeat(129), "")), "tags is longer than 128 characters");
    invalid(Map.of("tags", Map.of("a\0b", "")), "tags contains a NUL");
    invalid(Map.of("tags", Map.of("a", "x".repeat(1025))), "tags.a is longer than 1024 characters");
  }

  @Test
  void reportsViolationsOfASpecBuiltInJava() {
    CreateRequest wrong = CreateRequest.auto(SandboxSpec.builder(ID).gpus(-1).buildUnchecked());
    assertThat(RequestValidation.violations(wrong).stream().map(Violation::field))
        .containsExactly("gpus");
  }

  @Test
  void onlyTheFormForABackendHasSecrets() {
    SandboxSpec spec =
        SandboxSpec.builder(ID)
            .env("A", "1")
            .secretEnv("KEY", Secret.of("planted"))
            .init(Command.shell("planted"))
            .build();
    assertThat(SpecDocument.forBackend(spec))
        .containsEntry("secretEnv", Map.of("KEY", "planted"))
        .containsEntry("cwd", "/workspace")
        .containsOnlyKeys(
            List.of(
                "apiVersion",
                "env",
                "secretEnv",
                "cwd",
                "workspaceMount",
                "volumes",
                "resources",
                "network",
                "gpus"));
    assertThat(SpecDocument.forResponse(CreateRequest.auto(spec), value -> "***"))
        .containsEntry("env", Map.of("A", "***"))
        .containsEntry("init", "***")
        .doesNotContainKey("secretEnv")
        .satisfies(written -> assertThat(written.toString()).doesNotContain("planted"));
  }

  @Test
  void requestWithSecretsIsRecognized() {
    SandboxSpec.Builder spec = SandboxSpec.builder(ID).env("A", "1");
    assertThat(SpecDocument.hasSecrets(CreateRequest.auto(spec.build()))).isFalse();
    spec.secretEnv("KEY", Secret.of("planted"));
    assertThat(SpecDocument.hasSecrets(CreateRequest.auto(spec.build()))).isTrue();
  }

  private static void valid(Map<String, Object> document) {
    assertThat(SpecDocument.fromMap(document, () -> ID).spec().id()).isEqualTo(ID);
  }

  private static void invalid(Map<String, Object> document, String problem) {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> SpecDocument.fromMap(document, () -> ID))
        .withMessageContaining("is invalid: " + problem + ";");
  }

  private static Map<String, String> tags(int count) {
    Map<String, String> tags = new HashMap<>();
    for (int i = 0; i < count; i++) {
      tags.put("t" + i, "");
    }
    return tags;
  }
}
