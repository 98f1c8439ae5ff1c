package dev.isola.link.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The remedy names the setting that is in effect. */
class UserNamespaceRestrictionTest {
  @ParameterizedTest
  @CsvSource({
    "/proc/sys/user/max_user_namespaces, 0, user.max_user_namespaces=15000",
    "/proc/sys/kernel/unprivileged_userns_clone, 0, kernel.unprivileged_userns_clone=1",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns, 1,"
        + " kernel.apparmor_restrict_unprivileged_userns=0",
    "/proc/sys/user/max_user_namespaces, 15000, outside the container",
    "/proc/sys/kernel/unprivileged_userns_clone, 1, outside the container"
  })
  void remedyNamesTheSetting(String file, String value, String remedy) {
    UserNamespaceRestriction obstacle =
        UserNamespaceRestriction.detect(path -> path.equals(Path.of(file)) ? value + "\n" : "");
    assertThat(obstacle.remedy()).contains(remedy);
    assertThat(obstacle.reason()).isNotEmpty();
  }
}
