package dev.isola.app.serve;

import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.Host;
import dev.isola.app.operate.Fact;
import dev.isola.app.operate.Machine;
import dev.isola.app.operate.Tool;
import dev.isola.app.operate.Tools;
import dev.isola.server.api.SetupStep;
import dev.isola.spi.provider.ProviderFactory;
import java.util.ArrayList;
import java.util.List;

/** What {@code doctor} finds of the machine and its programs, for who asks a server. */
final class SetupSteps {
  private SetupSteps() {}

  static List<SetupStep> here(Host host, DataFolder data) {
    List<String> providers = new ArrayList<>();
    for (ProviderFactory factory : host.factories()) {
      providers.add(factory.name());
    }
    List<SetupStep> steps = new ArrayList<>();
    Machine.facts(data).forEach(fact -> steps.add(step("machine", fact)));
    Tools.of(host.env(), providers).facts(Tool.ALL).forEach(fact -> steps.add(step("tool", fact)));
    return steps;
  }

  private static SetupStep step(String about, Fact fact) {
    return new SetupStep(about, fact.name(), fact.good(), fact.value(), fact.fix());
  }
}
