// The reverse proxy of Go's standard library with kept connections and no buffering: go-proxy LISTEN UPSTREAM.
package main

import (
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

func main() {
	upstream, err := url.Parse(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(upstream)
	proxy.FlushInterval = -1
	proxy.Transport = &http.Transport{
		MaxIdleConns:        8192,
		MaxIdleConnsPerHost: 8192,
		DisableCompression:  true,
	}
	log.Fatal(http.ListenAndServe(os.Args[1], proxy))
}
