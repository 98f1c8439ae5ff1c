package dev.isola.engine.api.template;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UserDatabaseTest {
  private static final String ROOT = "root:x:0:0:root:/root:/bin/sh\n";

  private static UserDatabase with(String passwd, String group) {
    return new UserDatabase(passwd, group).with("user", "/home/user", "/bin/sh");
  }

  @Test
  void userGetsId1000AndTheGroupSudo() {
    UserDatabase made = with(ROOT, "root:x:0:\n");
    assertThat(made.passwd()).isEqualTo(ROOT + "user:x:1000:1000:user:/home/user:/bin/sh\n");
    assertThat(made.group()).isEqualTo("root:x:0:\nuser:x:1000:\nsudo:x:27:user\n");
    assertThat(made.contains("user")).isTrue();
    assertThat(made.ids("user")).contains("1000:1000");
  }

  @Test
  void userGetsTheNextFreeId() {
    UserDatabase made =
        with(ROOT + "node:x:1000:1001::/home/node:/bin/sh\n", "node:x:1000:\nother:x:1002:\n");
    assertThat(made.ids("user")).contains("1003:1003");
  }

  @Test
  void existingGroupsAreKept() {
    UserDatabase made = with(ROOT, "wheel:x:10:root\nuser:x:500:\nsudo-like:x:27:");
    assertThat(made.ids("user")).contains("1000:500");
    assertThat(made.group()).isEqualTo("wheel:x:10:root,user\nuser:x:500:\nsudo-like:x:27:");
    assertThat(with(ROOT, "sudo:x:27:user\n").group()).contains("sudo:x:27:user\n");
    assertThat(with(ROOT, "taken:x:27:\n").group()).endsWith("sudo:x:100:user\n");
  }

  @Test
  void missingTablesAreCreatedWithRoot() {
    UserDatabase made = with("", "");
    assertThat(made.contains("root")).isTrue();
    assertThat(made.ids("user")).contains("1000:1000");
    assertThat(made.group()).isEqualTo("root:x:0:\nuser:x:1000:\nsudo:x:27:user\n");
  }

  @Test
  void linesThatTheAgentSkipsHaveNoMeaningAndAreKept() {
    String hostile = "user:x:many:77::/home/user:/bin/sh\nuser:x\n:::\n+::::::\n\u00ff";
    UserDatabase made = with(ROOT + hostile, "sudo:x\nsudo:x:none:\n");
    assertThat(new UserDatabase(hostile, "").contains("user")).isFalse();
    assertThat(made.passwd()).startsWith(ROOT + hostile + "\n");
    assertThat(made.ids("user")).contains("1000:1000");
    assertThat(made.group()).endsWith("user:x:1000:\nsudo:x:27:user\n");
  }

  @Test
  void userWithAnyIdIsAUser() {
    assertThat(new UserDatabase("user:x:0:0::/root:/bin/sh", "").contains("user")).isTrue();
  }
}
