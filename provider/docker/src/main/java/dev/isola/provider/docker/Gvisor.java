package dev.isola.provider.docker;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.program.Version;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What gVisor can do, as far as its program is on this machine to be asked. */
record Gvisor(Settings settings) {
  private static final Pattern VERSION = Pattern.compile("runsc version \\D*(?:0\\.0~)?(\\d{8})");

  /** The first that is known to make signals of what is typed, and an end of file. */
  private static final Version TERMINALS = Version.of("20240729");

  /** Tells whether it is known to have terminals that work. */
  boolean terminals() {
    Optional<HostProgram> program =
        settings.address().local() ? HostProgram.find("runsc") : Optional.empty();
    Matcher said = VERSION.matcher(program.map(found -> found.ask("--version").text()).orElse(""));
    return said.find() && Version.of(said.group(1)).atLeast(TERMINALS);
  }
}
