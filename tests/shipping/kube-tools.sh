#!/bin/sh
# Builds what tests/shipping/kubernetes-api.test.ts needs, from the Go module proxy: kube-apiserver, etcd, helm, and the CRDs of the Gateway API
# and of the Prometheus operator. usage: sh tests/shipping/kube-tools.sh DIR, then LODESTONE_KUBE_TOOLS=DIR. It takes about twenty minutes.
set -eu
mkdir -p "$1" && out=$(cd "$1" && pwd)
kubernetes=1.34.4 etcd=3.6.16 helm=3.21.4 gateway=1.3.0 operator=0.83.0
export CGO_ENABLED=0 GOFLAGS=-mod=mod
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

# The modules of its staging folder are published as v0.*; those of samples are needed by no program.
mkdir "$work/apiserver" && cd "$work/apiserver"
{
  printf 'module tools\ngo 1.24.0\nrequire k8s.io/kubernetes v%s\n' "$kubernetes"
  curl -fsS "https://proxy.golang.org/k8s.io/kubernetes/@v/v$kubernetes.mod" | sed -n 's#^\s*\(k8s.io/[a-z-]*\) => ./staging.*#\1#p' |
    while read -r module; do
      case $module in
        */sample-*) mkdir -p "stub/$module" && printf 'module %s\ngo 1.24.0\n' "$module" >"stub/$module/go.mod"
          printf 'replace %s => ./stub/%s\n' "$module" "$module" ;;
      esac
      printf 'require %s v0.%s\n' "$module" "${kubernetes#1.}"
    done
} >go.mod
cat >main.go <<'GO'
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
GO
version=k8s.io/component-base/version
go build -o "$out/kube-apiserver" -ldflags "-s -w -X $version.gitVersion=v$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=34" .

mkdir "$work/etcd" && cd "$work/etcd"
printf 'module tools\ngo 1.24.0\nrequire go.etcd.io/etcd/server/v3 v%s\n' "$etcd" >go.mod
cat >main.go <<'GO'
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
GO
go build -o "$out/etcd" -ldflags '-s -w' .

GOBIN=$out go install "helm.sh/helm/v3/cmd/helm@v$helm"
folder_of() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'; }
cd "$work"
cat "$(folder_of "sigs.k8s.io/gateway-api@v$gateway")/config/crd/standard/gateway.networking.k8s.io_httproutes.yaml" >"$out/httproutes.yaml"
cat "$(folder_of "github.com/prometheus-operator/prometheus-operator@v$operator")/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml" >"$out/servicemonitors.yaml"
