package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.docker.EngineVariant.ExpectedKernel;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Recognition of kernels; an ambiguous one is not accepted. */
class GuestKernelTest {
  private static final String HOST = "6.1.0-18-amd64";
  private static final Optional<String> HOST_BOOT =
      Optional.of("11111111-2222-3333-4444-555555555555");
  private static final String ANOTHER_BOOT = "99999999-8888-7777-6666-555555555555";
  private static final String GVISOR = "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016";
  private static final String KATA = "Linux version 6.12.22 (@ee5a5a) (gcc) #1 SMP";

  private static boolean machine(String version, String boot) {
    return new GuestKernel(version, boot).matches(ExpectedKernel.VIRTUAL_MACHINE, HOST, HOST_BOOT);
  }

  @Test
  void virtualMachineHasItsOwnKernelAndBootId() {
    assertThat(machine(KATA, ANOTHER_BOOT)).isTrue();
    assertThat(machine(KATA, HOST_BOOT.orElseThrow())).as("the host's boot").isFalse();
    assertThat(machine("Linux version " + HOST + " (x)", ANOTHER_BOOT)).as("its release").isFalse();
    assertThat(machine(KATA, "")).as("no boot id").isFalse();
    assertThat(machine(KATA, "?")).as("malformed boot id").isFalse();
    assertThat(machine("", ANOTHER_BOOT)).as("no version").isFalse();
    assertThat(machine(GVISOR, ANOTHER_BOOT)).as("gVisor").isFalse();
    assertThat(machine("Linux version 5.15.0-gvisor #1 SMP", ANOTHER_BOOT)).isFalse();
  }

  @Test
  void remoteEngineIsJudgedByTheKernelRelease() {
    GuestKernel kata = new GuestKernel(KATA, ANOTHER_BOOT);
    assertThat(kata.matches(ExpectedKernel.VIRTUAL_MACHINE, HOST, Optional.empty())).isTrue();
    assertThat(kata.matches(ExpectedKernel.VIRTUAL_MACHINE, "6.12.22", Optional.empty())).isFalse();
    assertThat(kata.matches(ExpectedKernel.VIRTUAL_MACHINE, "", Optional.empty())).isFalse();
  }

  @Test
  void gvisorKernelIsRecognizedInEveryRelease() {
    GuestKernel current =
        new GuestKernel("Linux version 4.19.0-gvisor #1 SMP Sun Jan 10 15:06:54 PST 2016", "");
    assertThat(current.matches(ExpectedKernel.GVISOR, HOST, HOST_BOOT)).isTrue();
    assertThat(current.matches(ExpectedKernel.GVISOR, "4.19.0-gvisor", HOST_BOOT)).isFalse();
    assertThat(current.matches(ExpectedKernel.GVISOR, "", HOST_BOOT))
        .as("unknown boot id of the host")
        .isFalse();
    assertThat(new GuestKernel(GVISOR, "").matches(ExpectedKernel.GVISOR, HOST, HOST_BOOT))
        .isTrue();
    assertThat(new GuestKernel(GVISOR, "").matches(ExpectedKernel.GVISOR, "4.4.0", HOST_BOOT))
        .isFalse();
    assertThat(new GuestKernel(KATA, "").matches(ExpectedKernel.GVISOR, HOST, HOST_BOOT)).isFalse();
  }
}
