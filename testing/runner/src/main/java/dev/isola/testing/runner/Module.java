package dev.isola.testing.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * A Maven module of the repository.
 *
 * @param name its folder, relative to the repository, such as {@code provider/docker}
 * @param dependencies the names of modules that it uses directly
 * @param testJars the modules among them whose test classes it uses
 * @param forks how many processes may run its test classes at once
 * @param jvmOptions additional options of those processes
 * @param inputs files and folders outside of the module that its tests read, relative to the
 *     repository; {@code .} is all of it
 */
record Module(
    String name,
    Path folder,
    Set<String> dependencies,
    Set<String> testJars,
    int forks,
    List<String> jvmOptions,
    List<String> inputs) {

  /** Returns the modules that the root pom of {@code repository} names, in its order. */
  static List<Module> read(Path repository) throws IOException {
    List<String> names = new ArrayList<>();
    for (Element module : children(parse(repository).getDocumentElement(), "modules", "module")) {
      names.add(module.getTextContent().strip());
    }
    List<Document> poms = new ArrayList<>();
    List<String> artifacts = new ArrayList<>();
    for (String name : names) {
      Document pom = parse(repository.resolve(name));
      poms.add(pom);
      artifacts.add(children(pom.getDocumentElement(), "artifactId").getFirst().getTextContent());
    }
    List<Module> modules = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      Set<String> dependencies = new TreeSet<>();
      Set<String> testJars = new TreeSet<>();
      NodeList all = poms.get(i).getElementsByTagName("dependency"); // also those of profiles
      for (int j = 0; j < all.getLength(); j++) {
        Element dependency = (Element) all.item(j);
        int known = artifacts.indexOf(text(dependency, "artifactId", ""));
        if (known >= 0) {
          dependencies.add(names.get(known));
          if (text(dependency, "type", "jar").equals("test-jar")) {
            testJars.add(names.get(known));
          }
        }
      }
      Element project = poms.get(i).getDocumentElement();
      modules.add(
          new Module(
              names.get(i),
              repository.resolve(names.get(i)),
              dependencies,
              testJars,
              Integer.parseInt(property(project, "isola.forks", "1")),
              words(property(project, "isola.test.jvm", "")),
              words(property(project, "isola.test.inputs", ""))));
    }
    return modules;
  }

  private static Document parse(Path folder) throws IOException {
    Path pom = folder.resolve("pom.xml");
    if (!Files.exists(pom)) {
      throw new IOException(
          "the root pom.xml names the module " + folder + ", which has no pom.xml");
    }
    try {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      return factory.newDocumentBuilder().parse(pom.toFile());
    } catch (SAXException | ParserConfigurationException e) {
      throw new IOException(pom + " is not XML: " + e.getMessage(), e);
    }
  }

  private static String property(Element project, String name, String otherwise) {
    List<Element> found = children(project, "properties", name);
    return found.isEmpty() ? otherwise : found.getFirst().getTextContent().strip();
  }

  private static String text(Element parent, String name, String otherwise) {
    List<Element> found = children(parent, name);
    return found.isEmpty() ? otherwise : found.getFirst().getTextContent().strip();
  }

  /** Returns the elements that {@code path} leads to, from child to child. */
  private static List<Element> children(Element parent, String... path) {
    List<Element> found = new ArrayList<>();
    NodeList all = parent.getChildNodes();
    for (int i = 0; i < all.getLength(); i++) {
      if (all.item(i) instanceof Element child && child.getTagName().equals(path[0])) {
        if (path.length == 1) {
          found.add(child);
        } else {
          found.addAll(children(child, Arrays.copyOfRange(path, 1, path.length)));
        }
      }
    }
    return found;
  }

  private static List<String> words(String text) {
    return text.isBlank() ? List.of() : List.of(text.split("\\s+"));
  }

  /** Returns the folder of what a run of the check keeps about this module. */
  Path state() {
    return folder.resolve("target/check");
  }
}
