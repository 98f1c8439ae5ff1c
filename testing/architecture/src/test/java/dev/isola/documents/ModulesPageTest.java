package dev.isola.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * {@code docs/modules.md} is what the poms say. {@code ./check -pl testing/architecture
 * -Dtest=ModulesPageTest -Disola.pages.write=true} writes it.
 */
class ModulesPageTest {
  private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
  private static final Path PAGE = ROOT.resolve("docs/modules.md");

  /** A module as its pom describes it; test dependencies are left out. */
  private record Module(String folder, String artifact, String description, List<String> uses) {}

  @Test
  void pageListsEveryModuleWithItsPurposeAndWhatItUses() throws Exception {
    String expected = page(modules());
    if (Boolean.getBoolean("isola.pages.write")) {
      Files.writeString(PAGE, expected);
    }
    assertThat(PAGE)
        .as("./check -pl testing/architecture -Dtest=ModulesPageTest -Disola.pages.write=true")
        .hasContent(expected);
  }

  private static String page(List<Module> modules) {
    Map<String, String> folders = new TreeMap<>();
    modules.forEach(one -> folders.put(one.artifact(), one.folder()));
    StringBuilder text =
        new StringBuilder(
            "# Modules\n\nGenerated from the poms by `ModulesPageTest`. What a module uses only in"
                + " its tests, and what it uses by way of another module, is left out.\n\n"
                + "| folder | purpose | uses |\n|---|---|---|\n");
    for (Module module : modules) {
      List<String> uses =
          new ArrayList<>(
              new TreeSet<>(module.uses().stream().filter(folders::containsKey).toList())
                  .stream().map(one -> "`" + folders.get(one) + "`").sorted().toList());
      text.append("| `%s` | ".formatted(module.folder()));
      text.append(module.description().replace("|", "/")).append(" | ");
      text.append(String.join(", ", uses)).append(" |\n");
    }
    return text.toString();
  }

  private static List<Module> modules() throws Exception {
    List<Module> modules = new ArrayList<>();
    for (Element module : children(child(pom("").getDocumentElement(), "modules"), "module")) {
      String folder = module.getTextContent().strip();
      Element project = pom(folder).getDocumentElement();
      List<String> uses = new ArrayList<>();
      Element all = child(project, "dependencies");
      for (Element dependency : children(all, "dependency")) {
        if (!text(dependency, "scope").equals("test")) {
          uses.add(text(dependency, "artifactId"));
        }
      }
      modules.add(
          new Module(folder, text(project, "artifactId"), text(project, "description"), uses));
    }
    return modules;
  }

  private static Document pom(String folder) throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
    factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
    Path file = ROOT.resolve(folder).resolve("pom.xml");
    if (!Files.exists(file)) {
      throw new IOException("no " + file);
    }
    return factory.newDocumentBuilder().parse(file.toFile());
  }

  private static String text(Element parent, String name) {
    return child(parent, name).getTextContent().strip();
  }

  /** Returns the first child of that name, or an empty element. */
  private static Element child(Element parent, String name) {
    List<Element> found = children(parent, name);
    return found.isEmpty() ? parent.getOwnerDocument().createElement(name) : found.getFirst();
  }

  private static List<Element> children(Element parent, String name) {
    NodeList nodes = parent.getChildNodes();
    List<Element> found = new ArrayList<>();
    for (int i = 0; i < nodes.getLength(); i++) {
      Node node = nodes.item(i);
      if (node instanceof Element element && element.getTagName().equals(name)) {
        found.add(element);
      }
    }
    return found;
  }
}
