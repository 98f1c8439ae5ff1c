package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MountTableTest {
  /** As in a container: the same file system at three places, with different options. */
  private static final MountTable CONTAINER =
      new MountTable(
          List.of(
              "500 400 0:50 / / rw,relatime - overlay overlay rw",
              "501 500 0:54 / /proc rw,nosuid,nodev,noexec - proc proc rw",
              "502 501 0:54 /sys /proc/sys ro,nosuid,nodev,noexec - proc proc rw",
              "503 502 0:54 /sys/net /proc/sys/net rw,nosuid - proc proc rw",
              "504 500 0:60 / /a\\040b ro - tmpfs tmpfs rw",
              "505 500 0:61 / /twice ro - tmpfs tmpfs rw",
              "506 505 0:62 / /twice rw - tmpfs tmpfs rw"));

  @Test
  void innermostMountDecidesWhetherAFileIsReadOnly() {
    assertThat(CONTAINER.isReadOnly("/proc/sys/user/max_inotify_instances")).isTrue();
    assertThat(CONTAINER.isReadOnly("/proc/sys")).isTrue();
    assertThat(CONTAINER.isReadOnly("/proc/sys/net/ipv4/ip_forward")).isFalse();
    assertThat(CONTAINER.isReadOnly("/proc/system")).isFalse();
    assertThat(CONTAINER.isReadOnly("/etc")).isFalse();
    assertThat(CONTAINER.isReadOnly("/a b/file")).isTrue();
  }

  @Test
  void mountAboveAnotherCoversIt() {
    assertThat(CONTAINER.isReadOnly("/twice/file")).isFalse();
  }
}
