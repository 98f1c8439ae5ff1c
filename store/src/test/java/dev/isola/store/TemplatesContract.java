package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Templates and their builds survive a restart. */
abstract class TemplatesContract extends LedgerContract {

  TemplatesContract(TestDatabase database) {
    super(database);
  }

  private static TemplateEntry template(String id, List<String> names) {
    return new TemplateEntry(
        id,
        names,
        "",
        "{\"user\":\"root\"}",
        Optional.of(2L),
        Optional.empty(),
        "b-" + id,
        TemplateEntry.State.AVAILABLE,
        NOW,
        NOW.plusSeconds(1));
  }

  private static BuildEntry build(String id, String template, int age) {
    return new BuildEntry(
        id,
        template,
        BuildEntry.State.WAITING,
        "image-" + id,
        "",
        Optional.empty(),
        NOW.plusSeconds(age),
        NOW.plusSeconds(age));
  }

  @Test
  void templatesAreInsertedUpdatedAndRemoved() {
    TemplateEntry first = template("a", List.of("web", "web:v1", "odd\tname\\"));
    assertThat(ledger.templates().insert(first)).isTrue();
    assertThat(ledger.templates().insert(template("a", List.of("other")))).isFalse();
    assertThat(ledger.templates().insert(template("b", List.of()))).isTrue();
    reopen();
    assertThat(ledger.templates().find("a")).contains(first);
    assertThat(ledger.templates().all()).containsExactly(first, template("b", List.of()));
    TemplateEntry changed =
        first
            .withNames(List.of("web"), NOW.plusSeconds(2))
            .withBuild("image", "{}", NOW.plusSeconds(3))
            .withState(TemplateEntry.State.REMOVING, NOW.plusSeconds(4));
    assertThat(ledger.templates().update(changed)).isTrue();
    assertThat(ledger.templates().find("a")).contains(changed);
    assertThat(ledger.templates().remove("a")).isTrue();
    assertThat(ledger.templates().remove("a")).isFalse();
    assertThat(ledger.templates().update(changed)).isFalse();
    assertThat(ledger.templates().find("a")).isEmpty();
  }

  @Test
  void buildsAreInsertedUpdatedAndRemoved() {
    assertThat(ledger.templates().insert(build("2", "a", 2))).isTrue();
    assertThat(ledger.templates().insert(build("1", "a", 1))).isTrue();
    assertThat(ledger.templates().insert(build("1", "b", 9))).isFalse();
    assertThat(ledger.templates().insert(build("3", "b", 3))).isTrue();
    reopen();
    assertThat(ledger.templates().builds("a"))
        .containsExactly(build("1", "a", 1), build("2", "a", 2));
    assertThat(ledger.templates().builds())
        .containsExactly(build("1", "a", 1), build("2", "a", 2), build("3", "b", 3));
    BuildEntry failed =
        build("1", "a", 1)
            .withState(BuildEntry.State.RUNNING, NOW.plusSeconds(2))
            .failed("it ended with 1", Optional.of(4L), NOW.plusSeconds(3))
            .withoutImage(NOW.plusSeconds(4));
    assertThat(ledger.templates().update(failed)).isTrue();
    assertThat(ledger.templates().build("1")).contains(failed);
    assertThat(ledger.templates().removeBuild("1")).isTrue();
    assertThat(ledger.templates().removeBuild("1")).isFalse();
    assertThat(ledger.templates().update(failed)).isFalse();
    assertThat(ledger.templates().build("1")).isEmpty();
  }

  @Test
  void removingATemplateRemovesItsBuilds() {
    assertThat(ledger.templates().insert(template("a", List.of("web")))).isTrue();
    assertThat(ledger.templates().insert(build("1", "a", 1))).isTrue();
    assertThat(ledger.templates().insert(build("2", "b", 2))).isTrue();
    assertThat(ledger.templates().remove("a")).isTrue();
    assertThat(ledger.templates().builds()).containsExactly(build("2", "b", 2));
  }
}
