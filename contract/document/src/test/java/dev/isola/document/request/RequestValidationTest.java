package dev.isola.document.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Violation;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** S1: the rules of a request, in addition to those of its spec. */
class RequestValidationTest {
  private static final Duration TEN_YEARS = Duration.ofDays(3650);
  private static final CreateRequest PLAIN =
      CreateRequest.auto(SandboxSpec.builder(new SandboxId("a")).build());

  @Test
  void acceptsValuesWithinBounds() {
    valid(PLAIN);
    valid(PLAIN.withTtl(Duration.ofNanos(1)).withIdleTimeout(Duration.ofNanos(1)));
    valid(PLAIN.withTtl(TEN_YEARS).withIdleTimeout(TEN_YEARS));
    valid(PLAIN.withTags(tags(64)));
    valid(PLAIN.withTags(Map.of("x".repeat(128), "y".repeat(1024))));
  }

  @Test
  void rejectsInvalidDurations() {
    invalid(PLAIN.withTtl(Duration.ZERO), "ttl must be more than 0 and at most 3650 days");
    invalid(PLAIN.withTtl(Duration.ofSeconds(-1)), "ttl must be more than 0 and at most 3650 days");
    invalid(PLAIN.withTtl(TEN_YEARS.plusNanos(1)), "ttl must be more than 0 and at most 3650 days");
    invalid(
        PLAIN.withIdleTimeout(Duration.ZERO),
        "idleTimeout must be more than 0 and at most 3650 days");
  }

  @Test
  void rejectsTooManyOrTooLongTags() {
    invalid(PLAIN.withTags(tags(65)), "tags has more than 64 entries");
    invalid(PLAIN.withTags(Map.of("", "x")), "tags is blank");
    invalid(PLAIN.withTags(Map.of("x".repeat(129), "")), "tags is longer than 128 characters");
    invalid(PLAIN.withTags(Map.of("a\0b", "")), "tags contains a NUL");
    invalid(PLAIN.withTags(Map.of("a", "x".repeat(1025))), "tags.a is longer than 1024 characters");
  }

  @Test
  void reportsViolationsOfTheSpecAndTheRequest() {
    CreateRequest wrong =
        CreateRequest.auto(SandboxSpec.builder(new SandboxId("a")).gpus(-1).buildUnchecked())
            .withTtl(Duration.ZERO);
    assertThat(RequestValidation.violations(wrong).stream().map(Violation::field))
        .containsExactly("gpus", "ttl");
  }

  private static void valid(CreateRequest request) {
    assertThat(RequestValidation.violations(request)).isEmpty();
  }

  private static void invalid(CreateRequest request, String problem) {
    assertThat(RequestValidation.violations(request).stream().map(Violation::toString))
        .containsExactly(problem);
  }

  private static Map<String, String> tags(int count) {
    Map<String, String> tags = new HashMap<>();
    for (int i = 0; i < count; i++) {
      tags.put("t" + i, "");
    }
    return tags;
  }
}
