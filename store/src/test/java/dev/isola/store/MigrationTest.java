package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MigrationTest {

  @Test
  void splitsStatementsAndDropsComments() {
    Migration step =
        new Migration(
            1, "x", "-- one; two\ncreate table a (\n  -- why; so\n  b text\n);\n\ndrop a;\n");

    assertThat(step.statements()).containsExactly("create table a (\n  b text\n)", "drop a");
  }

  @Test
  void checksumFollowsTheText() {
    assertThat(new Migration(1, "x", "a").checksum())
        .isEqualTo(new Migration(2, "y", "a").checksum())
        .isNotEqualTo(new Migration(1, "x", "b").checksum());
  }
}
